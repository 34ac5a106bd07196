import { UsageError } from '../errors.ts';
import { NO_USAGE } from '../events/index.ts';
import { type Conclusion, conclude } from './conclusion.ts';
import { execute } from './execute.ts';
import { stoppedEarly, takeBaseline } from './ground.ts';
import { createJury } from './jury.ts';
import { planCheckMounts } from './mounts.ts';
import type { Prepared } from './prepare.ts';
import type { RunRequest, RunSinks } from './request.ts';
import { createSession } from './session.ts';
import { runSetup } from './setup.ts';
import type { RunHandle } from './start-run.ts';
import type { Worked } from './worked.ts';

/** A patch that stands for the agent's work. */
export interface PatchJob {
  /** Puts the patch into the workspace. Throws UsageError when it does not apply. */
  apply(): Promise<void>;
  /** Tree that the patched workspace has to be; null: any. */
  readonly expectedTree: string | null;
}

/**
 * Runs the policy's checks without a model: on the workspace as it is, or, with a patch, on its base with the patch put in, judged as
 * a run would be (baseline, scope, clean room).
 */
export function startVerify(request: RunRequest, sinks: RunSinks, patch: PatchJob | null): RunHandle {
  const { session, interrupt } = createSession(sinks, request.jobId);
  return {
    result: execute({ request, session, work: (prepared) => verify(prepared, patch) }),
    interrupt,
    steer() {
      throw new Error('bug: a verification takes no messages');
    },
  };
}

async function verify(prepared: Prepared, patch: PatchJob | null): Promise<Worked> {
  const { context, trees } = prepared;
  if (context === null || trees === null) throw new Error('bug: verify on a run that is not prepared');
  const { workspace } = context;
  const worked = (conclusion: Conclusion): Worked => ({
    conclusion,
    denials: [],
    usage: NO_USAGE,
    costUsd: 0,
    turns: 0,
    attempts: 1,
    toolCalls: 0,
  });
  if (context.policy.setup.length > 0) {
    await runSetup(context, {
      dir: workspace.dir,
      mounts: planCheckMounts(context.mounts),
      home: context.homes.setup,
      afterChange: false,
    });
    trees.start = await workspace.snapshot();
  }
  const stopped = stoppedEarly(context);
  if (stopped !== null) return worked(stopped);
  const jury = await createJury({ context, start: trees.start, holdouts: prepared.holdouts });
  const baseline = patch === null ? null : await takeBaseline(context);
  if (baseline !== null && 'outcome' in baseline) return worked(baseline);
  await patch?.apply();
  if (patch?.expectedTree && (await workspace.snapshot()) !== patch.expectedTree) {
    throw new UsageError('--expect: the patch does not give the tree that the result is about', { code: 'expect' });
  }
  const verdict = await jury.judge({ attempt: 1, baseline, limited: false });
  return worked(
    stoppedEarly(context) ??
      conclude(verdict.outcome, verdict.reason, { evidence: verdict.evidence, checks: verdict.checks }),
  );
}
