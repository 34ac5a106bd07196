import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RunBlockedError } from '../errors.ts';
import type { CheckResult } from '../events/index.ts';
import { createMatcher } from '../policy/index.ts';
import { isWithin } from '../sandbox/index.ts';
import {
  type Baseline,
  changesJudge,
  createRooms,
  type Holdouts,
  judge,
  type Place,
  type RoomSetup,
  type Rooms,
  type Round,
  RUNNER_CONFIGS,
  renderEvidence,
  runAttemptRound,
  runFinalRound,
  type Verdict,
} from '../verify/index.ts';
import {
  captureCarry,
  type DependencyQuestion,
  dependencyChanges,
  isManifestOrLock,
  judgeDependencies,
  judgeScope,
  judgeUnrecorded,
  layCarry,
  type ScopeViolation,
  type TreeId,
} from '../workspace/index.ts';
import { createCheckPorts } from './check-ports.ts';
import { judgeSecrets } from './known-secrets.ts';
import { planCheckMounts } from './mounts.ts';
import type { RunContext } from './run-context.ts';
import { runSetup } from './setup.ts';

export interface JuryVerdict extends Verdict {
  tree: TreeId;
  /** What the agent is told when it may try again; null when trying again cannot help or must not be told. */
  feedback: string | null;
}

/** Judges the tree as the agent left it: scope first, then the checks in the workspace, then the clean room. */
export interface Jury {
  /** `limited`: a limit ended the agent, so only the deciding round runs. */
  judge(about: JudgedAttempt): Promise<JuryVerdict>;
  /** How the checks stand by what was seen so far, for a run that ends without a verdict. */
  standing(baseline: Baseline): readonly CheckResult[];
}

export interface JudgedAttempt {
  attempt: number;
  /** null: nothing was run before (belay verify). */
  baseline: Baseline | null;
  limited: boolean;
}

export interface JuryOptions {
  context: RunContext;
  /** The tree as setup left it. */
  start: TreeId;
  holdouts: Holdouts;
}

export async function createJury({ context, start, holdouts }: JuryOptions): Promise<Jury> {
  const { policy, workspace } = context;
  const { verify } = policy;
  const ports = createCheckPorts(context);
  const rounds: Round[] = [];
  const judges = verify.checks.length > 0;
  // What setup left stays what it is, ignored and there, also where nothing is checked.
  if (!judges && policy.setup.length > 0) await workspace.ignoredPaths();
  const rooms = judges ? await openRooms({ context, start, holdouts }) : null;
  const tests = createMatcher(policy.workspace.tests);
  const configs = createMatcher(RUNNER_CONFIGS);
  /** Which changed paths judge the work: test files and configs, and manifests whose change touches how checks run. */
  const matchesOf = async (files: readonly { path: string }[], tree: TreeId) => {
    const judging = new Set<string>();
    for (const { path } of files) {
      if (
        isManifestOrLock(path) &&
        changesJudge(path, await workspace.read(start, path), await workspace.read(tree, path))
      )
        judging.add(path);
    }
    return {
      test: (path: string) => tests(path) !== null || judging.has(path),
      config: (path: string) => configs(path) !== null,
      manifest: isManifestOrLock,
    };
  };
  const pristine = context.request.trustRef ?? workspace.base.commit ?? start;

  async function runRounds(
    { tree, files }: { tree: TreeId; files: readonly { path: string }[] },
    about: JudgedAttempt,
  ): Promise<void> {
    if (rooms === null) return;
    const { attempt, baseline } = about;
    let attempted: TreeId | null = null;
    if (!about.limited) {
      const place = {
        root: workspace.root,
        dir: workspace.dir,
        mounts: planCheckMounts(context.mounts),
        phase: 'verify',
      } as const;
      const round = await runAttemptRound({ workspace, place, ports, verify, baseline, attempt }, context.stop);
      rounds.push(round);
      if (round.status !== 'passed') return;
      attempted = tree;
    }
    rounds.push(
      await runFinalRound(
        {
          workspace,
          rooms,
          ports,
          verify,
          baseline,
          attempt,
          tree,
          base: start,
          pristine,
          attempted,
          matches: await matchesOf(files, tree),
        },
        context.stop,
      ),
    );
  }

  return {
    standing: (baseline) => judge({ verify, baseline, rounds, tree: null, violations: [] }).checks,
    async judge(about) {
      const tree = await workspace.snapshot(null, { ignored: true });
      const [change, unrecorded] = await Promise.all([workspace.diff(start, tree), workspace.unrecorded()]);
      const violations = [
        ...judgeScope(change.files, policy),
        ...judgeUnrecorded(unrecorded, policy, (path) => existsSync(join(workspace.root, path))),
        ...(await judgeDeps(context, { from: start, to: tree, files: change.files })),
        ...(await judgeSecrets({ redactor: context.redactor, workspace, change, from: start, to: tree })),
      ];
      const before = rounds.length;
      if (violations.length === 0) await runRounds({ tree, files: change.files }, about);
      const last = rounds.length > before ? rounds.at(-1) : undefined;
      if (last?.status === 'blocked')
        throw new RunBlockedError('sandbox_unavailable', last.reason ?? 'the sandbox gave way');
      const verdict = judge({
        verify,
        baseline: about.baseline,
        rounds,
        tree,
        violations: violations.map(({ reason }) => reason),
      });
      return {
        ...(await proven(verdict, { context, change, tree, start })),
        tree,
        feedback: feedbackOf(verdict, last, violations),
      };
    },
  };
}

async function judgeDeps(
  { policy, workspace }: RunContext,
  question: DependencyQuestion,
): Promise<readonly ScopeViolation[]> {
  return policy.workspace.dependencies === 'deny'
    ? judgeDependencies(await dependencyChanges(workspace, question), policy)
    : [];
}

/** A verified patch has to give the verified tree when it is applied to a fresh checkout of its base. */
async function proven(
  verdict: Verdict,
  { context, change, tree, start }: { context: RunContext; change: { patch: Buffer }; tree: TreeId; start: TreeId },
): Promise<Verdict> {
  if (
    verdict.outcome !== 'verified' ||
    (await context.workspace.proves(change.patch, tree, ...(start === context.workspace.base.tree ? [] : [start])))
  )
    return verdict;
  return {
    ...verdict,
    outcome: 'unverified',
    reason: 'the patch does not give the verified tree on a fresh checkout of its base',
  };
}

function feedbackOf(
  verdict: Verdict,
  last: Round | undefined,
  violations: readonly { reason: string }[],
): string | null {
  if (verdict.outcome === 'verified' || verdict.outcome === 'unchecked') return null;
  if (violations.length > 0)
    return `The change breaks the policy, so it was not checked. Undo what breaks it, then finish again:\n${violations.map(({ reason }) => `- ${reason}`).join('\n')}`;
  if (last === undefined || last.status === 'passed') return `The work is not verified: ${verdict.reason}.`;
  if (last.status !== 'failed') return null;
  const secret = last.cleanRoom && last.runs.some((run) => run.output === null);
  return secret ? null : renderEvidence(last);
}

async function openRooms({ context, holdouts }: JuryOptions): Promise<Rooms> {
  const { policy, workspace, scratch } = context;
  const { carry, freeze } = policy.verify.cleanRoom;
  const ignored = await workspace.ignoredPaths();
  const paths = carry === 'auto' ? ignored : carry;
  const isFrozen = createMatcher(freeze);
  const frozen = join(scratch, 'carry-frozen');
  await mkdir(frozen, { recursive: true });
  await context.carry.capture(paths.filter((path) => isFrozen(path.replace(/\/$/, '')) === null));
  const mounted = context.sandbox.status.tier === 'bubblewrap';
  const frozenPaths = paths.filter((path) => isFrozen(path.replace(/\/$/, '')) !== null);
  if (!mounted) await captureCarry({ from: workspace.root, to: frozen, paths: frozenPaths });
  return createRooms({
    workspace,
    tier: context.sandbox.status.tier,
    scratch,
    async layCarry(roomRoot, what) {
      await context.carry.layInto(roomRoot);
      if (!what.frozen) return;
      if (mounted) await captureCarry({ from: workspace.root, to: roomRoot, paths: frozenPaths });
      else await layCarry({ from: frozen, to: roomRoot });
    },
    freeze: frozenPaths,
    holdouts: holdouts.overlays,
    mounts: planCheckMounts(context.mounts).filter(
      (mount) => mount.access === 'read' && !isWithin(workspace.root, mount.from),
    ),
    runSetup: (place) => rerunSetup(context, place),
  });
}

async function rerunSetup(context: RunContext, place: Place): Promise<RoomSetup> {
  try {
    await runSetup(context, {
      dir: place.dir,
      mounts: place.mounts,
      home: await context.homes.copy('room'),
      afterChange: true,
    });
    return context.stop.aborted ? { kind: 'cancelled' } : { kind: 'done' };
  } catch (error) {
    if (error instanceof RunBlockedError) return { kind: 'failed', reason: error.message };
    throw error;
  }
}
