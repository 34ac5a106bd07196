import * as z from 'zod';
import type { Interruption } from '../events/index.ts';
import type { Limits } from '../policy/index.ts';
import type { PlannedJob } from './planned-job.ts';

/** What a run's process is told. It is a process of this same program: the job in it was validated before anything ran. */
export interface JobOrder {
  /** On every event of the run. */
  jobId: string;
  job: Pick<PlannedJob, 'goal' | 'policy' | 'trustRef' | 'references' | 'replay'>;
  /** What the batch's budget lets it use. */
  limits: Pick<Limits, 'tokens' | 'costUsd' | 'wallTimeMs'>;
  /** Absolute path of the folder under work. */
  workspace: string;
  /** Path of the JSON Schema for the final answer. */
  outputSchema: string | null;
  ephemeral: boolean;
  patchFile: string | null;
  stateDir: string;
  /** Where setup's work is kept for other runs. */
  keepSetup: string | null;
  /** Whose setup is taken over. */
  setupTaken: { home: string; from: string } | null;
  /** Instead of an agent: this patch (path) is judged on this commit. `workspace` is then the repository that has it. */
  verify: { patch: string; base: string; below: string } | null;
}

/** From the batch to a run's process. */
export type ToJob = { kind: 'order'; order: JobOrder } | { kind: 'interrupt'; why: Interruption };

/** What comes over the channel is from the same program at the other end; anything else is a bug there. */
export const ToJob = z.custom<ToJob>(
  (value) => z.object({ kind: z.enum(['order', 'interrupt']) }).safeParse(value).success,
);

/** From a run's process to the batch; everything else goes through its event stream. */
export const FromJob = z.strictObject({ kind: z.literal('setup_kept') });
