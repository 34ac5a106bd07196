import * as z from 'zod';
import { Outcome } from './outcome.ts';
import { Result } from './result.ts';
import { Usage } from './usage.ts';

const Count = z.int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** One run of a job: a repetition after a failure of the model, or one of its alternatives. */
export const RunSummary = z.strictObject({
  run_id: z.string(),
  thread_id: z.string(),
  outcome: Outcome,
  reason: z.string(),
  /** Where its patch was written, or null. */
  patch: z.string().nullable(),
  patch_sha256: Sha256.nullable(),
  changed_files: Count,
  changed_lines: Count,
  usage: Usage,
  cost_usd: z.number().min(0).nullable(),
  duration_ms: Count,
});
export type RunSummary = z.infer<typeof RunSummary>;

/** Which part of a batch a job came from; 1-based. */
export const Shard = z.strictObject({ index: z.int().min(1), total: z.int().min(1) });
export type Shard = z.infer<typeof Shard>;

/** One line of `--results`: the job's verdict, and what lets a later run or a merge tell what it was about. */
export const JobRecord = z.strictObject({
  job_id: z.string(),
  result: Result,
  /** Of all that decides the job: goal, policy, base, context, limits, model. The same digest is the same job. */
  digest: Sha256.optional(),
  /** The whole batch, all shards: digest of its jobs' digests, and their number. */
  batch: z.strictObject({ sha256: Sha256, jobs: Count }).optional(),
  shard: Shard.optional(),
  /** The batch's own budget kept it from starting, or ended it before its limits did: it is not over. */
  cut_short: z.literal(true).optional(),
  /** Every run of the job, the kept one included. */
  runs: z.array(RunSummary).optional(),
});
export type JobRecord = z.infer<typeof JobRecord>;
