import { UsageError } from '../errors.ts';
import { NO_USAGE } from '../events/index.ts';
import { type Conclusion, conclude } from './conclusion.ts';
import { stoppedEarly, takeBaseline } from './ground.ts';
import { createJury } from './jury.ts';
import { planCheckMounts } from './mounts.ts';
import type { PatchJob } from './patch-job.ts';
import type { Prepared } from './prepare.ts';
import { runSetup } from './setup.ts';
import type { Worked } from './worked.ts';

/** Setup, baseline, the patch, one round: what `belay verify` does between preparation and settlement. */
export async function verify(prepared: Prepared, patch: PatchJob | null): Promise<Worked> {
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
