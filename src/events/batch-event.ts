import * as z from 'zod';
import { BatchMeasures } from './batch-measures.ts';
import { JobRecord, Shard } from './job-record.ts';
import { Outcome } from './outcome.ts';
import { Usage } from './usage.ts';

const Count = z.int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The batch's own events are a chain of their own, beside those of its runs: `run_id` names the batch. */
const envelope = {
  v: z.literal(1),
  seq: Count,
  time: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  run_id: z.string(),
  prev: Sha256,
  cut: z.array(z.strictObject({ path: z.string(), omitted: Count })).optional(),
};

/** What became of the union of the verified patches. */
export const Combination = z.strictObject({
  /** Jobs whose patches are in it, in the order of the job file. */
  jobs: z.array(z.string()),
  left_out: z.array(
    z.strictObject({
      job_id: z.string(),
      reason: z.enum(['does_not_apply', 'checks_fail', 'other_base', 'no_patch', 'interrupted']),
      /** Jobs that it does not go together with, as far as that is known. */
      with: z.array(z.string()),
    }),
  ),
  /** The patch of the union, or null when there is none. */
  patch: z.string().nullable(),
  patch_sha256: Sha256.nullable(),
  base_commit: z.string().nullable(),
  /** Of the last verification of exactly this union; null when nothing was verified. */
  outcome: Outcome.nullable(),
});
export type Combination = z.infer<typeof Combination>;

/** Why a batch ended before its last job was started; with a kind that is an outcome too, it ended as a whole with that outcome's exit code. */
export const BatchStop = z.strictObject({
  kind: z.enum([
    'stop_after',
    'cost_usd',
    'tokens',
    'wall_time',
    'results',
    'interrupted',
    'usage_error',
    'internal_error',
  ]),
  reason: z.string(),
});
export type BatchStop = z.infer<typeof BatchStop>;

const bodies = {
  'batch.started': z.strictObject({
    ...envelope,
    type: z.literal('batch.started'),
    belay_version: z.string(),
    batch: z.strictObject({ sha256: Sha256, jobs: Count }).nullable(),
    shard: Shard.nullable(),
    /** Of this shard, in the order of the job file. */
    jobs: z.array(z.string()),
    /** 0: of a merge or a refused batch, which run nothing. */
    concurrency: Count,
  }),
  'job.completed': z.strictObject({
    ...envelope,
    type: z.literal('job.completed'),
    ...JobRecord.shape,
    /** The verdict is from an earlier run of the batch: nothing was run for it this time. */
    recorded: z.boolean(),
  }),
  'batch.completed': z.strictObject({
    ...envelope,
    type: z.literal('batch.completed'),
    batch: z.strictObject({ sha256: Sha256, jobs: Count }).nullable(),
    shard: Shard.nullable(),
    /** Jobs of this shard (of a merge: all that are there), and how they ended. */
    jobs: Count,
    outcomes: z.partialRecord(Outcome, Count),
    /** The worst job by the table of outcomes, or 0. */
    exit_code: Count,
    /** Jobs whose verdict was there already. */
    recorded: Count,
    usage: Usage,
    cost_usd: z.number().min(0).nullable(),
    duration_ms: Count,
    measures: BatchMeasures,
    stopped: BatchStop.nullable(),
    combination: Combination.nullable(),
    /** Of a merge: shards that nothing came from, and how many jobs of the others have no verdict. */
    missing: z.strictObject({ shards: z.array(z.int().min(1)), jobs: Count }).nullable(),
  }),
} as const;

/** One line of a batch's stream that is of the batch itself, not of one of its runs. */
export const BatchEvent = z.discriminatedUnion('type', [
  bodies['batch.started'],
  bodies['job.completed'],
  bodies['batch.completed'],
]);
export type BatchEvent = z.infer<typeof BatchEvent>;

type Body<E> = E extends { type: string } ? Omit<E, 'v' | 'seq' | 'time' | 'run_id' | 'prev' | 'cut'> : never;
/** A batch's event before its envelope. */
export type BatchEventBody = Body<BatchEvent>;
