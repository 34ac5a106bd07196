import type { Check, VerifyPolicy } from '../policy/index.ts';
import type { TreeId, Workspace } from '../workspace/index.ts';
import type { Baseline } from './baseline.ts';
import { type CheckRun, hasPassed } from './check-run.ts';
import type { CheckPorts } from './place.ts';
import type { Rooms } from './rooms.ts';
import { type Round, statusOf, tellRound, withoutServices } from './round.ts';
import { runChecks } from './run-checks.ts';
import { splitTestChanges } from './test-changes.ts';

export interface FinalSite {
  workspace: Pick<Workspace, 'changedPaths' | 'withPathsOf' | 'list'>;
  rooms: Rooms;
  ports: CheckPorts;
  verify: VerifyPolicy;
  baseline: Baseline | null;
  attempt: number;
  /** The tree to judge, and the one that the change is against. */
  tree: TreeId;
  base: TreeId;
  /** Where pristine tests come from (the trust ref's tree, or HEAD's); what it lacks comes from `base`. */
  pristine: TreeId;
  /** The tree of the last attempt round: when it is another, the checks of that round are due again. */
  attempted: TreeId | null;
  matches: { test(path: string): boolean; config(path: string): boolean; manifest(path: string): boolean };
}

/**
 * The round that decides, in rooms that the agent never was in. Pass one has the exact final tree. Pass two, when the change touches
 * files of `workspace.tests` and `clean_room.pristine_tests` holds, has their base versions. Both have to be green. With a holdout
 * the output goes to nobody.
 */
export async function runFinalRound(site: FinalSite, signal: AbortSignal): Promise<Round> {
  const { tree, verify, ports } = site;
  const due = verify.checks.filter((check) => check.when !== 'attempt' || site.attempted !== tree);
  return tellRound({ attempt: site.attempt, cleanRoom: true, emit: ports.emit }, async () => {
    const changed = await site.workspace.changedPaths(site.base, tree);
    const rerunSetup = changed.some(({ path }) => site.matches.manifest(path));
    const first = await runPass(due, { site, tree, rerunSetup }, signal);
    if (first.status !== 'passed' || !verify.cleanRoom.pristineTests) return { ...first, tree };
    const pristine = await pristineTree(site, changed);
    if (pristine === tree) return { ...first, tree };
    const second = await runPass(due, { site, tree: pristine, rerunSetup }, signal);
    return mergePasses(tree, first, second);
  });
}

async function pristineTree(site: FinalSite, changed: Awaited<ReturnType<Workspace['changedPaths']>>): Promise<TreeId> {
  const { restored, removed } = splitTestChanges(changed, site.matches);
  if (restored.length + removed.length === 0) return site.tree;
  const { workspace, base, pristine } = site;
  const tree = await workspace.withPathsOf(site.tree, base, [...restored, ...removed]);
  if (pristine === base) return tree;
  const known = new Set(await workspace.list(pristine));
  const trusted = [...restored, ...removed].filter((path) => known.has(path));
  return trusted.length === 0 ? tree : workspace.withPathsOf(tree, pristine, trusted);
}

async function runPass(
  checks: readonly Check[],
  pass: { site: FinalSite; tree: TreeId; rerunSetup: boolean },
  signal: AbortSignal,
): Promise<Round> {
  const { verify, baseline, ports, rooms } = pass.site;
  const about = { cleanRoom: true, tree: pass.tree };
  const opening = await rooms.open(pass.tree, { rerunSetup: pass.rerunSetup }, signal);
  if (opening.kind === 'cancelled')
    return { ...about, runs: [], status: 'cancelled', reason: 'the clean room was cancelled' };
  if (opening.kind === 'refused') return { ...about, runs: [], status: 'failed', reason: opening.reason };
  const { room } = opening;
  try {
    const secret = verify.holdout.length > 0;
    // A retry keeps the room: what the check itself wrote there is all that can differ.
    const site = { place: room.place, ports, baseline, retries: verify.flakyRetries, secret, reset: async () => {} };
    const start = await ports.startServices(room.place, { secret });
    if (start.kind !== 'up') return { ...about, runs: [], ...withoutServices(start) };
    try {
      const runs = await runChecks(checks, site, signal);
      return { ...about, runs, ...statusOf(runs) };
    } finally {
      await start.services.stop();
    }
  } finally {
    await room.close();
  }
}

/** One verdict for each check: green only when both passes are. */
function mergePasses(tree: TreeId, first: Round, second: Round): Round {
  const runs = first.runs.map((run): CheckRun => {
    const again = second.runs.find((other) => other.name === run.name);
    if (again === undefined || !hasPassed(run)) return run;
    return { ...again, flaky: again.flaky || (run.flaky && hasPassed(again)), reason: pristineReason(again) };
  });
  if (second.runs.length === 0) return { ...second, tree, runs };
  return { cleanRoom: true, tree, runs, ...statusOf(runs) };
}

function pristineReason(run: CheckRun): string | null {
  return run.reason === null || run.output === null
    ? run.reason
    : `${run.reason} once the test files are put back as they were`;
}
