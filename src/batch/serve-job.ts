import { basename, dirname, join } from 'node:path';
import {
  type OutputSchema,
  type RunHandle,
  type RunRequest,
  type RunSinks,
  startRun,
  startVerify,
} from '../run/index.ts';
import { captureCarry, createPatchBench } from '../workspace/index.ts';
import type { JobOrder } from './job-order.ts';

export interface JobSite {
  version: string;
  environment: NodeJS.ProcessEnv;
  sinks: RunSinks;
  /** Compiled from the order's path. */
  outputSchema: OutputSchema | null;
  /** Called when what setup left is where the order wants it. */
  onSetupKept(): void;
}

/** A run of a batch, in its own process: the counterpart of `startJob`. `close` removes what a verification laid out. */
export async function serveJob(order: JobOrder, site: JobSite): Promise<{ run: RunHandle; close(): Promise<void> }> {
  const request = requestOf(order, site);
  if (order.verify === null) return { run: startRun(request, site.sinks), close: async () => undefined };
  const { readFile } = await import('node:fs/promises');
  const bench = await createPatchBench({
    dir: order.workspace,
    path: site.environment['PATH'] ?? '',
    base: order.verify.base,
    patch: await readFile(order.verify.patch),
    expected: null,
  });
  const verification: RunRequest = {
    ...request,
    kind: 'verify',
    goal: 'verify the union of the verified patches',
    replay: [],
    workspace: join(bench.dir, order.verify.below),
    delivery: 'discard',
  };
  return { run: startVerify(verification, site.sinks, bench), close: () => bench.remove() };
}

function requestOf(order: JobOrder, { version, environment, outputSchema, onSetupKept }: JobSite): RunRequest {
  const { job, keepSetup, setupTaken } = order;
  const { policy } = job.policy;
  return {
    kind: 'agent',
    version,
    goal: job.goal,
    policy: { ...job.policy, policy: { ...policy, limits: { ...policy.limits, ...order.limits } } },
    workspace: order.workspace,
    references: job.references,
    outputSchema,
    replay: job.replay,
    record: null,
    trustRef: job.trustRef,
    ephemeral: order.ephemeral,
    files: { result: null, patch: order.patchFile, message: null },
    streamFiles: [],
    environment,
    stateDir: order.stateDir,
    delivery: 'keep-verified',
    jobId: order.jobId,
    cappedByBatch: order.limits.wallTimeMs < policy.limits.wallTimeMs,
    ...(setupTaken === null ? {} : { setupTaken }),
    ...(keepSetup === null
      ? {}
      : {
          async onSetupDone({ root, home }) {
            for (const path of [root, home])
              await captureCarry({ from: dirname(path), to: keepSetup, paths: [basename(path)] });
            onSetupKept();
          },
        }),
  };
}
