import { nameSome } from '../events/index.ts';
import type { Check, VerifyPolicy } from '../policy/index.ts';
import type { TreeId, Workspace } from '../workspace/index.ts';
import type { Baseline } from './baseline.ts';
import { type CheckRun, endsRound, hasPassed } from './check-run.ts';
import type { CheckPorts, Place, RunningServices } from './place.ts';
import { isDueAtTheEnd } from './reserve.ts';
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
  const due = verify.checks.filter((check) => isDueAtTheEnd(check) || site.attempted !== tree);
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

interface Pass {
  site: FinalSite;
  tree: TreeId;
  rerunSetup: boolean;
}

async function runPass(checks: readonly Check[], pass: Pass, signal: AbortSignal): Promise<Round> {
  const { verify, baseline, ports } = pass.site;
  const about = { cleanRoom: true, tree: pass.tree };
  const secret = verify.holdout.length > 0;
  let opening = await openForChecks(pass, signal);
  try {
    if (opening.kind !== 'open') return { ...about, runs: [], ...opening.end };
    const runs: CheckRun[] = [];
    const runOne = async (check: Check, room: CheckRoom, retries: number): Promise<CheckRun | RoundEnd> => {
      const ready = await room.makeReady();
      if ('status' in ready) return ready;
      const site = { place: room.place, ports, baseline, secret, retries, reset: async () => {} };
      const [run] = await runChecks([check], site, signal);
      if (run === undefined) throw new Error('bug: a check that was run has no run');
      return withRestored(run, ready.restored);
    };
    for (const [at, check] of checks.entries()) {
      let run = await runOne(check, opening, verify.flakyRetries);
      if (!('name' in run)) return { ...about, runs, ...run };
      if (run.flaky) {
        // Code under test may have written over what judges it: a check that passes the second time has to pass from the start as well.
        await opening.close();
        opening = await openForChecks(pass, signal);
        if (opening.kind !== 'open') return { ...about, runs: [...runs, run], ...opening.end };
        let last: CheckRun | null = null;
        for (const one of checks.slice(0, at + 1)) {
          const again = await runOne(one, opening, 0);
          if (!('name' in again)) return { ...about, runs: [...runs, run], ...again };
          last = again;
          if (endsRound(again)) break;
        }
        // What was cut short before it came to this check confirms nothing.
        if (last?.name !== check.name)
          return { ...about, runs: [...runs, run], ...statusOf(last === null ? [] : [last]) };
        run = { ...last, flaky: true, durationMs: run.durationMs + last.durationMs };
      }
      runs.push(run);
      if (endsRound(run)) break;
    }
    return { ...about, runs, ...statusOf(runs) };
  } finally {
    await opening.close();
  }
}

/** How a round ends that cannot go on. */
type RoundEnd = Pick<Round, 'status' | 'reason'>;

/** A room with its services up. */
interface CheckRoom {
  kind: 'open';
  place: Place;
  /** Before each check: puts back what those before it changed of the judged files; the services begin anew then. */
  makeReady(): Promise<{ restored: readonly string[] } | RoundEnd>;
  close(): Promise<void>;
}

type OpenedRoom = CheckRoom | { kind: 'shut'; end: RoundEnd; close(): Promise<void> };

/** A fresh room with its services up, or how the round ends because there is none. */
async function openForChecks({ site, tree, rerunSetup }: Pass, signal: AbortSignal): Promise<OpenedRoom> {
  const shut = (end: RoundEnd): OpenedRoom => ({ kind: 'shut', end, close: async () => {} });
  const opening = await site.rooms.open(tree, { rerunSetup }, signal);
  if (opening.kind === 'cancelled') return shut({ status: 'cancelled', reason: 'the clean room was cancelled' });
  if (opening.kind === 'refused') return shut({ status: 'failed', reason: opening.reason });
  const { room } = opening;
  const startServices = () => site.ports.startServices(room.place, { secret: site.verify.holdout.length > 0 });
  let isKept = false;
  try {
    const start = await startServices();
    if (start.kind !== 'up') return shut(withoutServices(start));
    isKept = true;
    let services: RunningServices | null = start.services;
    let isUsed = false;
    const stopServices = async () => {
      const running = services;
      services = null;
      await running?.stop();
    };
    return {
      kind: 'open',
      place: room.place,
      async makeReady() {
        const restored = isUsed ? await room.changed() : [];
        isUsed = true;
        if (restored.length === 0) return { restored };
        await stopServices();
        const reason = await room.putBack(restored);
        if (reason !== null)
          return {
            status: 'failed',
            reason: `what the checks changed in the clean room cannot be put back: ${reason}`,
          };
        const again = await startServices();
        if (again.kind !== 'up') return withoutServices(again);
        services = again.services;
        return { restored };
      },
      close: () => stopServices().finally(() => room.close()),
    };
  } finally {
    if (!isKept) await room.close();
  }
}

const MOST_NAMED = 3;

/** A red check may miss what one before it wrote over the tree: its reason says that this is not there. */
function withRestored(run: CheckRun, restored: readonly string[]): CheckRun {
  if (run.reason === null || run.output === null || restored.length === 0) return run;
  const named = nameSome(restored, MOST_NAMED);
  return { ...run, reason: `${run.reason} (what checks before it changed was put back: ${named})` };
}

/** One verdict for each check: green only when both passes are. */
function mergePasses(tree: TreeId, first: Round, second: Round): Round {
  const runs = first.runs.map((run): CheckRun => {
    const again = second.runs.find((other) => other.name === run.name);
    if (again === undefined || !hasPassed(run)) return run;
    return { ...again, flaky: again.flaky || (run.flaky && hasPassed(again)), reason: pristineReason(again) };
  });
  const merged = statusOf(runs);
  // A pass may end badly though all that ran was green: it had no room, or lost it.
  const { status, reason } = merged.status === 'passed' ? second : merged;
  return { cleanRoom: true, tree, runs, status, reason };
}

function pristineReason(run: CheckRun): string | null {
  return run.reason === null || run.output === null
    ? run.reason
    : `${run.reason} once the test files are put back as they were`;
}
