import { isJudged, type JobRecord, Outcome, type Result } from '../events/index.ts';

/** The exit code of the worst result by the table of outcomes (contract, section 3), or 0. */
export function worstExit(results: readonly Result[]): number {
  const rank = (result: Result) => (result.exit_code === 0 ? -1 : Outcome.options.indexOf(result.outcome));
  const worst = results.reduce<Result | null>((a, b) => (a === null || rank(b) > rank(a) ? b : a), null);
  return worst?.exit_code ?? 0;
}

/** Whether the job is over: a verdict about the job, not about the day. Anything else is done again by the next run of the batch. */
export function isDone({ result, cut_short }: Pick<JobRecord, 'result' | 'cut_short'>): boolean {
  return isJudged(result.outcome) && cut_short === undefined;
}
