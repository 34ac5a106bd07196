import { createHash } from 'node:crypto';
import type { ReferenceFile } from '../context/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';

/** A job with everything that decides it read and validated: nothing of it can be a usage error later but what only the run can see. */
export interface PlannedJob {
  id: string;
  /** `jobs.jsonl:3`. */
  where: string;
  goal: string;
  /** Tightened by the job's limits and the command line's. */
  policy: LoadedPolicy;
  /** Commit of `--trust-ref`, resolved. */
  trustRef: string | null;
  /** Full id of the commit that the job starts from. */
  base: string;
  references: readonly ReferenceFile[];
  /** Cassette (path) instead of a model. */
  replay: string | null;
  /** Of all of the above and of what the whole batch shares. */
  digest: string;
}

/** What all jobs of a batch have in common, as far as it decides their outcome. */
export interface SharedInputs {
  /** Folder under work, relative to the root. */
  below: string;
  /** Digest of the output schema's text. */
  outputSchema: string | null;
  alternatives: number;
}

/**
 * The same digest is the same job, on whatever machine and in whatever clone. The policy counts as it takes effect, so that a changed
 * option, floor or default makes a new job.
 */
export function digestJob(job: Omit<PlannedJob, 'digest'>, shared: SharedInputs & { cassette: string | null }): string {
  return sha256(
    JSON.stringify([
      1,
      job.id,
      job.goal,
      job.policy.policy,
      job.policy.sha256,
      job.policy.floorSha256,
      job.trustRef,
      job.base,
      job.references.map(({ path, text }) => [path, sha256(text)]),
      shared.cassette,
      shared.below,
      shared.outputSchema,
      shared.alternatives,
    ]),
  );
}

/** The whole batch, all shards. */
export function digestBatch(jobs: readonly Pick<PlannedJob, 'digest'>[]): { sha256: string; jobs: number } {
  return { sha256: sha256(jobs.map((job) => job.digest).join('\n')), jobs: jobs.length };
}

export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
