import * as z from 'zod';

const Count = z.int().min(0);
const Amount = z.number().min(0);
/** 0…1; null where there is nothing to divide by. */
const Share = z.number().min(0).max(1).nullable();

/** What teams judge agents by, over the jobs of a batch. Means and shares are null where there is nothing to divide by. */
export const BatchMeasures = z.strictObject({
  jobs: Count,
  verified: Count,
  /** Verified jobs of all. */
  completion_rate: Share,
  checks: z.strictObject({
    /** Checks that ran on a final tree, over all jobs. */
    run: Count,
    passed: Count,
    pass_rate: Share,
    /** Green before, red after. */
    regressed: Count,
  }),
  /** Runs, with those repeated after a failure of the model and the alternatives of a job. */
  runs: Count,
  denials: Count,
  /** Means over the verified jobs, of the run that was kept. */
  per_verified_job: z.strictObject({
    attempts: Amount.nullable(),
    turns: Amount.nullable(),
    tool_calls: Amount.nullable(),
    duration_ms: Amount.nullable(),
    /** What all jobs cost, shared by the verified ones; null when a price is unknown. */
    cost_usd: Amount.nullable(),
  }),
  time: z.strictObject({
    /** Sum, median and 90th percentile of what the jobs took. */
    jobs_ms: Amount,
    median_job_ms: Amount.nullable(),
    p90_job_ms: Amount.nullable(),
  }),
  /** C = tokens × price × retries × (1 + failure rate): what a further job like these is likely to cost. */
  cost: z.strictObject({
    /** Mean of a run, input and output. */
    tokens_per_run: Amount.nullable(),
    /** What was paid, over the tokens it was paid for; null when a price is unknown. */
    usd_per_million_tokens: Amount.nullable(),
    /** Runs a job took. */
    retries: Amount.nullable(),
    /** Jobs that were not verified, of all. */
    failure_rate: Share,
    /** C; null when a price is unknown. */
    usd_per_job: Amount.nullable(),
  }),
});
export type BatchMeasures = z.infer<typeof BatchMeasures>;
