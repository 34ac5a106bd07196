import { UsageError } from '../errors.ts';
import { renderSeconds } from '../events/index.ts';
import type { Check, VerifyPolicy } from '../policy/index.ts';
import type { Baseline } from './baseline.ts';

/** Laying out a small room and asking git for the difference takes about this long. */
const ROOM_MS = 250;

/**
 * Milliseconds that the final round needs at the end of the run, by what its checks took in the baseline: both passes of them, or
 * one where test files are not put back. 0 without checks.
 *
 * Throws a UsageError when the baseline's time twice over is more than what is left: the run could never be verified.
 */
export function reserveFor(baseline: Baseline, verify: VerifyPolicy, timeLeftMs: number): number {
  if (!verify.checks.some(isDueAtTheEnd)) return 0;
  const onceMs = finalChecksMs(baseline, verify);
  if (onceMs * 2 > timeLeftMs)
    throw new UsageError(
      `limits.wall_time is too short: the final checks take ${renderSeconds(onceMs)} and may run twice at the end, but only ${renderSeconds(Math.max(0, timeLeftMs))} are left after the baseline; give more time or make checks faster`,
      { code: 'wall_time_too_short' },
    );
  const passes = verify.cleanRoom.pristineTests ? 2 : 1;
  return Math.min(timeLeftMs, passes * (onceMs + ROOM_MS));
}

/** What the final checks took in the baseline, once. */
export function finalChecksMs(baseline: Baseline, verify: VerifyPolicy): number {
  const due = verify.checks.filter(isDueAtTheEnd).map((check) => check.name);
  return baseline.runs.filter((run) => due.includes(run.name)).reduce((sum, run) => sum + run.durationMs, 0);
}

/** Also a check of the loop that decides: what the agent left in ignored files may have turned it green there. */
export function isDueAtTheEnd({ when, required }: Pick<Check, 'when' | 'required'>): boolean {
  return when !== 'attempt' || required;
}
