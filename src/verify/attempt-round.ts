import type { VerifyPolicy } from '../policy/index.ts';
import type { Baseline } from './baseline.ts';
import type { CheckPorts, Place } from './place.ts';
import { type ResettableTree, resetTree } from './reset-tree.ts';
import { type Round, statusOf, tellRound, withoutServices } from './round.ts';
import { runChecks } from './run-checks.ts';

export interface AttemptSite {
  workspace: ResettableTree;
  place: Place;
  ports: CheckPorts;
  verify: VerifyPolicy;
  baseline: Baseline | null;
  /** 1, 2, … */
  attempt: number;
}

/**
 * The checks that run in the loop, in the workspace as the agent left it. What they write there beside ignored files is taken
 * back, before a retry and at the end: the tree that was judged is the tree that stays. Without such checks the round passes
 * untold.
 */
export async function runAttemptRound(site: AttemptSite, signal: AbortSignal): Promise<Round> {
  const { workspace, verify, ports } = site;
  const checks = verify.checks.filter((check) => check.when !== 'final');
  const tree = await workspace.snapshot();
  if (checks.length === 0) return { cleanRoom: false, tree, runs: [], status: 'passed', reason: null };
  const reset = () => resetTree(workspace, tree);
  return tellRound({ attempt: site.attempt, cleanRoom: false, emit: ports.emit }, async () => {
    const about = { cleanRoom: false, tree };
    const start = await ports.startServices(site.place, { secret: false });
    if (start.kind !== 'up') {
      await reset();
      return { ...about, runs: [], ...withoutServices(start) };
    }
    try {
      const runs = await runChecks(
        checks,
        { place: site.place, ports, baseline: site.baseline, retries: verify.flakyRetries, secret: false, reset },
        signal,
      );
      return { ...about, runs, ...statusOf(runs) };
    } finally {
      await start.services.stop();
      await reset();
    }
  });
}
