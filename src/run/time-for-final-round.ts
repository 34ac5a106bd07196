import { UsageError } from '../errors.ts';
import { renderSeconds } from '../events/index.ts';
import type { ThreadPast } from '../thread/index.ts';
import { type Baseline, finalChecksMs, reserveFor } from '../verify/index.ts';
import { type Conclusion, conclude } from './conclusion.ts';
import type { RunContext } from './run-context.ts';

/** What of a run its time depends on. */
export interface TimedContext extends Pick<RunContext, 'policy' | 'timeLeftMs' | 'elapsedMs'> {
  request: Pick<RunContext['request'], 'cappedByBatch'>;
}

/**
 * Milliseconds. Where they do not fit into what a batch or the thread's earlier runs have left, the limit ends the run: the policy would
 * have given time enough, and is not to blame. Throws UsageError where it would not.
 */
export function timeForFinalRound(
  context: TimedContext,
  baseline: Baseline,
  past: Pick<ThreadPast, 'elapsedMs'> | null,
): number | Conclusion {
  const { limits, verify } = context.policy;
  try {
    return reserveFor(baseline, verify, context.timeLeftMs());
  } catch (error) {
    if (!(error instanceof UsageError) || error.code !== 'wall_time_too_short') throw error;
    const endedBy = 'wall_time';
    if (context.request.cappedByBatch === true)
      return conclude('limit_reached', `of the batch's wall time too little is left: ${error.message}`, { endedBy });
    const onceMs = finalChecksMs(baseline, verify);
    if (past === null || onceMs * 2 > limits.wallTimeMs - (context.elapsedMs() - past.elapsedMs)) throw error;
    const reason = `the limit wall_time is as good as reached: ${renderSeconds(context.elapsedMs())} of ${renderSeconds(limits.wallTimeMs)} used, ${renderSeconds(past.elapsedMs)} of them by earlier runs of the thread, and the final checks (${renderSeconds(onceMs)}) may run twice: resume with a higher --wall-time, up to the policy's limit, or raise it in the policy`;
    return conclude('limit_reached', reason, { endedBy });
  }
}
