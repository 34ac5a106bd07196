import * as z from 'zod';

/** Names files of the job, too: it is a path's part wherever it is used. */
export const JobId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'letters, digits, dot, dash and underscore, at most 100');

/** One line of a batch file: a goal, inline or in a file, and what differs from the batch's policy. */
export const Job = z
  .strictObject({
    /** Unique in the batch; names the worktree and the line of the results. */
    id: JobId,
    goal: z.string().min(1).optional(),
    /** Relative to the batch file. */
    goal_file: z.string().min(1).optional(),
    policy: z.string().min(1).optional(),
    /** The commit to start from. */
    ref: z.string().min(1).optional(),
    context: z.array(z.string().min(1)).optional(),
    /** Can only tighten the policy's limits. */
    limits: z
      .strictObject({
        turns: z.int().min(1),
        attempts: z.int().min(1),
        /** A duration: `90s`, `1h30m`. */
        wall_time: z.string(),
        tokens: z.int().min(1),
        cost_usd: z.number().min(0),
        tool_calls: z.int().min(1),
      })
      .partial()
      .optional(),
  })
  .refine((job) => (job.goal === undefined) !== (job.goal_file === undefined), 'exactly one of goal and goal_file')
  // JSON Schema has no refinements.
  .meta({ oneOf: [{ required: ['goal'] }, { required: ['goal_file'] }] });
export type Job = z.infer<typeof Job>;
