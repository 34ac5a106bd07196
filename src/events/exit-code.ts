import type { Outcome } from './outcome.ts';

// Apart from the schema: the first lines of every command read this.

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
