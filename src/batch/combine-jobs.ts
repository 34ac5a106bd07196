import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Combination, Result } from '../events/index.ts';
import { lostResult } from '../run/index.ts';
import type { TreeSource } from '../workspace/index.ts';
import { combine } from './combine.ts';
import type { JobTrees } from './job-trees.ts';
import type { PlannedJob } from './planned-job.ts';
import type { EndedJob } from './run-all.ts';
import type { JobRunOptions, JobRunPorts } from './run-job.ts';
import { runOnce } from './run-once.ts';

/** `job_id` of the verifications: no job can be called so. */
const COMBINATION = '@combination';

export interface CombineSite {
  all: readonly EndedJob[];
  options: JobRunOptions;
  ports: JobRunPorts;
  source: TreeSource;
  trees: JobTrees;
  file: string;
}

/** The union of a batch's verified patches, judged by the policies of their jobs: each of them has to be content. */
export function combineJobs({ all, options, ports, source, trees, file }: CombineSite): Promise<Combination> {
  const isInterrupted = () => ports.interruption() !== null;
  return combine(
    { records: all.map(({ record }) => record), patches: options.patches, file },
    {
      isInterrupted,
      async openStack(base) {
        const tree = await trees.open('combination');
        return { stack: await source.stack(base, tree.dir), close: () => tree.remove() };
      },
      async verify({ patch, base, jobs }) {
        const place = await trees.open('combination');
        try {
          const path = join(place.folder, 'union.patch');
          await writeFile(path, patch);
          const judges = distinctPolicies(all.map(({ job }) => job).filter(({ id }) => jobs.includes(id)));
          let last: Result | null = null;
          for (const judge of judges) {
            last = await verifyBy(judge, { patch: path, base, jobs: jobs.length }, { options, ports, source });
            if (last.outcome !== 'verified' && last.outcome !== 'unchecked') break;
          }
          if (last === null) throw new Error('bug: a union of no jobs');
          return last;
        } finally {
          await place.remove();
        }
      },
    },
  );
}

async function verifyBy(
  judge: PlannedJob,
  union: { patch: string; base: string; jobs: number },
  { options, ports, source }: Pick<CombineSite, 'options' | 'ports' | 'source'>,
): Promise<Result> {
  const startedAt = new Date();
  const { policy } = judge.policy;
  // Each job was held to these by itself.
  const limits = {
    ...policy.limits,
    changedFiles: policy.limits.changedFiles * union.jobs,
    changedLines: policy.limits.changedLines * union.jobs,
  };
  const { tokens, costUsd, wallTimeMs } = policy.limits;
  const order = {
    jobId: COMBINATION,
    job: { ...judge, policy: { ...judge.policy, policy: { ...policy, limits } } },
    limits: { tokens, costUsd, wallTimeMs },
    workspace: source.root,
    outputSchema: null,
    ephemeral: true,
    patchFile: null,
    stateDir: options.stateDir,
    keepSetup: null,
    setupTaken: null,
    verify: { patch: union.patch, base: union.base, below: options.below },
  };
  const end = await runOnce(order, { ...ports, onSetupKept: () => undefined });
  if (end.kind === 'ended') return end.result;
  return lostResult({
    outcome: 'internal_error',
    reason: `the verification's process ended without a verdict (${end.how})`,
    endedBy: 'process_lost',
    goal: '',
    policy: judge.policy,
    baseCommit: union.base,
    interruption: null,
    runId: end.runId,
    threadId: end.threadId,
    usage: end.usage,
    costUsd: end.costUsd,
    startedAt,
  });
}

function distinctPolicies(jobs: readonly PlannedJob[]): PlannedJob[] {
  return [...new Map(jobs.map((job) => [JSON.stringify(job.policy.policy.verify), job])).values()];
}
