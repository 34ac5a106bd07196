import { execute } from './execute.ts';
import type { PatchJob } from './patch-job.ts';
import type { RunRequest, RunSinks } from './request.ts';
import { createSession } from './session.ts';
import type { RunHandle } from './start-run.ts';

/**
 * Runs the policy's checks without a model: on the workspace as it is, or, with a patch, on its base with the patch put in, judged as
 * a run would be (baseline, scope, clean room).
 */
export function startVerify(request: RunRequest, sinks: RunSinks, patch: PatchJob | null): RunHandle {
  const { session, interrupt } = createSession(sinks, request.jobId);
  return {
    result: execute({
      request,
      session,
      prefetch: () => import('./verify-work.ts'),
      work: async (prepared) => (await import('./verify-work.ts')).verify(prepared, patch),
    }),
    problems: session.problems,
    interrupt,
    steer: () => false,
  };
}
