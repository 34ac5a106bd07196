import {
  type BatchEventBody,
  type BatchStop,
  type Combination,
  exitCodeOf,
  type JobRecord,
  Outcome,
  type Result,
} from '../events/index.ts';
import { measure, totalOf } from './measure.ts';
import { worstExit } from './worst-exit.ts';

export interface RollUp {
  records: readonly JobRecord[];
  recorded: number;
  batch: JobRecord['batch'] | null;
  shard: JobRecord['shard'] | null;
  durationMs: number;
  stopped: BatchStop | null;
  combination: Combination | null;
  missing: { shards: number[]; jobs: number } | null;
}

/** `batch.completed`: what the jobs came to, and the one exit code. */
export function rollUp(about: RollUp): Extract<BatchEventBody, { type: 'batch.completed' }> {
  const results = about.records.map(({ result }) => result);
  const { usage, costUsd } = totalOf(about.records);
  return {
    type: 'batch.completed',
    batch: about.batch ?? null,
    shard: about.shard ?? null,
    jobs: results.length,
    outcomes: countOutcomes(results),
    exit_code: exitOf(results, about),
    recorded: about.recorded,
    usage,
    cost_usd: costUsd,
    duration_ms: Math.round(about.durationMs),
    measures: measure(about.records),
    stopped: about.stopped,
    combination: about.combination,
    missing: about.missing,
  };
}

/** Jobs that are not there, and patches that do not go together, are at least as bad as a job that is not verified. */
function exitOf(results: readonly Result[], { missing, combination, stopped }: RollUp): number {
  if (stopped?.kind === 'usage_error' || stopped?.kind === 'internal_error')
    return exitCodeOf(stopped.kind, { checksDeclaredEmpty: false });
  const worst = worstExit(results);
  const isWhole =
    (missing === null || (missing.jobs === 0 && missing.shards.length === 0)) &&
    (combination === null || combination.left_out.length === 0);
  return isWhole || worst > 2 ? worst : exitCodeOf('unverified', { checksDeclaredEmpty: false });
}

/** How many ended how, in the order of the table. */
function countOutcomes(results: readonly Result[]): Partial<Record<Outcome, number>> {
  const counted = Outcome.options.map((outcome) => [outcome, results.filter((one) => one.outcome === outcome).length]);
  return Object.fromEntries(counted.filter(([, count]) => count !== 0));
}
