import * as z from 'zod';

/** How a run ended (contract, section 3). */
export const Outcome = z.enum([
  'verified',
  'unchecked',
  'not_reproduced',
  'internal_error',
  'usage_error',
  'unverified',
  'limit_reached',
  'policy_violation',
  'approval_required',
  'gave_up',
  'invalid_output',
  'model_failed',
  'sandbox_unavailable',
  'setup_failed',
  'busy',
  'interrupted',
]);
export type Outcome = z.infer<typeof Outcome>;

const JUDGED: ReadonlySet<Outcome> = new Set([
  'verified',
  'unchecked',
  'not_reproduced',
  'unverified',
  'limit_reached',
  'policy_violation',
  'approval_required',
  'gave_up',
  'invalid_output',
]);

/** Whether the agent had its chance: a verdict about the job. Every other outcome means that belay could not do its work. */
export function isJudged(outcome: Outcome): boolean {
  return JUDGED.has(outcome);
}
