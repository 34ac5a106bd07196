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

/** Why a run was interrupted: the signal, or a reader that closed stdout. */
export type Interruption = 'SIGINT' | 'SIGTERM' | 'SIGPIPE';

const CODES: Record<Exclude<Outcome, 'unchecked' | 'interrupted'>, number> = {
  verified: 0,
  not_reproduced: 5,
  internal_error: 1,
  usage_error: 2,
  unverified: 10,
  limit_reached: 11,
  policy_violation: 12,
  approval_required: 13,
  gave_up: 14,
  invalid_output: 15,
  model_failed: 20,
  sandbox_unavailable: 21,
  setup_failed: 22,
  busy: 23,
};

/** 128 and the signal's number; SIGPIPE stands for a reader that went away. */
export const INTERRUPTION_EXITS: Readonly<Record<Interruption, number>> = { SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 };

/**
 * The exit code of an outcome. `unchecked` is 0 only where the policy itself says `verify: {checks: []}`;
 * `interrupted` that of its interruption, SIGINT where none is named.
 */
export function exitCodeOf(
  outcome: Outcome,
  how: { checksDeclaredEmpty: boolean; interruption?: Interruption },
): number {
  if (outcome === 'unchecked') return how.checksDeclaredEmpty ? 0 : 3;
  if (outcome === 'interrupted') return INTERRUPTION_EXITS[how.interruption ?? 'SIGINT'];
  return CODES[outcome];
}
