import { UsageError } from '../errors.ts';
import { NO_USAGE } from '../events/index.ts';
import { type Conclusion, conclude } from './conclusion.ts';
import { setUp, stoppedEarly, takeBaseline } from './ground.ts';
import type { PatchJob } from './patch-job.ts';
import type { Prepared } from './prepare.ts';
import type { Worked } from './worked.ts';

/** Setup, baseline, the patch, one round: what `belay verify` does between preparation and settlement. */
export async function verify(prepared: Prepared, patch: PatchJob | null): Promise<Worked> {
  const { context } = prepared;
  if (context === null) throw new Error('bug: verify on a run that is not prepared');
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
  const jury = await setUp(prepared);
  if ('outcome' in jury) return worked(jury);
  const baseline = patch === null ? null : await takeBaseline(context);
  if (baseline !== null && 'outcome' in baseline) return worked(baseline);
  if (patch !== null) {
    await patch.apply();
    const tree = await workspace.snapshot();
    if (patch.expectedTree !== null && tree !== patch.expectedTree)
      throw new UsageError('--expect: the patch does not give the tree that the result is about', { code: 'expect' });
    const fault = patch.faultOf(await workspace.list(tree));
    if (fault !== null) return worked(conclude('policy_violation', fault));
  }
  const { outcome, reason, evidence, checks, tree } = await jury.judge({ attempt: 1, baseline, limited: false });
  return worked(stoppedEarly(context) ?? conclude(outcome, reason, { evidence, checks, tree }));
}
