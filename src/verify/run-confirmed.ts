import type { Check } from '../policy/index.ts';
import { type CheckRun, endsRound, hasPassed } from './check-run.ts';
import { type CheckSite, runCheck } from './run-check.ts';

export interface ConfirmedSite extends CheckSite {
  /** How often a failing check is run again. */
  retries: number;
  /** Puts the tree back to what the failed run started on. */
  reset(): Promise<void>;
}

/**
 * Runs a check, and again while it fails and has retries left, each time on the same tree. One that fails and then passes is
 * flaky and counts as passed. Durations add up: that is what the check costs.
 */
export async function runConfirmed(check: Check, site: ConfirmedSite, signal: AbortSignal): Promise<CheckRun> {
  let run = await runCheck(check, site, signal);
  let spentMs = run.durationMs;
  for (let left = site.retries; left > 0 && !hasPassed(run) && !endsRound(run); left--) {
    await site.reset();
    const again = await runCheck(check, site, signal);
    spentMs += again.durationMs;
    // A retry that was cut off takes nothing back of the failure before it, but it ends the round.
    run = { ...again, flaky: hasPassed(again) };
  }
  return { ...run, durationMs: spentMs };
}
