import type { Result } from '../events/index.ts';

/** Failures that say something about the day and not about the job: after so many alike in a row there is no use in going on. */
const OF_THE_DAY: ReadonlySet<string> = new Set([
  'internal_error',
  'usage_error',
  'model_failed',
  'sandbox_unavailable',
  'setup_failed',
]);
const ROW_OF_THE_DAY = 5;

/** Watches how jobs end, in the order in which they do. */
export interface StopRule {
  /** Why the batch ends now; null to go on. */
  note(result: Result): string | null;
}

/**
 * `stopAfter`: a batch ends after so many like failures in a row, whatever they are. Without it, only after five of those that every
 * further job would meet, too. 0: never.
 */
export function createStopRule(stopAfter: number | null): StopRule {
  let kind = '';
  let row = 0;
  return {
    note(result) {
      const now = kindOf(result);
      row = now !== '' && now === kind ? row + 1 : 1;
      kind = now;
      if (now === '' || stopAfter === 0) return null;
      const most = stopAfter ?? (OF_THE_DAY.has(result.outcome) ? ROW_OF_THE_DAY : Number.POSITIVE_INFINITY);
      return row < most ? null : `${row} jobs in a row ended as ${result.outcome}: ${result.reason}`;
    },
  };
}

/** Empty for what is no failure, and for an interruption, which ends the batch by itself. */
function kindOf(result: Result): string {
  if (result.exit_code === 0 || result.outcome === 'unchecked' || result.outcome === 'interrupted') return '';
  return `${result.outcome}/${result.error?.code ?? ''}`;
}
