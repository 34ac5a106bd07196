import { UsageError } from '../errors.ts';
import type { Outcome } from '../events/index.ts';
import type { Limits } from '../policy/index.ts';
import type { ThreadPast } from '../thread/index.ts';
import { checkDecision } from './approval.ts';
import type { ApprovalDecision } from './request.ts';

/** Outcomes that leave nothing to go on with. */
const FINISHED: ReadonlySet<Outcome | null> = new Set([
  'verified',
  'unchecked',
  'not_reproduced',
  'gave_up',
  'invalid_output',
]);

/** Throws UsageError where resuming would do nothing, or something else than what was asked for. */
export function refuseResume(
  { id, past, decision }: { id: string; past: ThreadPast; decision: ApprovalDecision | null },
  limits: Limits,
): void {
  const last = past.runs.at(-1)?.outcome ?? null;
  // A rollback goes back behind the end.
  if (FINISHED.has(last) && past.stashed?.by !== 'rollback') {
    throw new UsageError(
      `thread ${id} is finished (${last}): there is nothing to resume; start a new run, or branch off with belay thread fork`,
      { code: 'finished' },
    );
  }
  if (decision !== null) checkDecision(id, past, decision);
  if (past.pending === null) {
    refuseUsedUp('turns', past.turns, limits.turns);
    refuseUsedUp('tokens', past.usage.input_tokens + past.usage.output_tokens, limits.tokens);
    if (past.costUsd !== null) refuseUsedUp('cost-usd', past.costUsd, limits.costUsd);
  }
  if (last === 'unverified' || last === 'policy_violation') refuseUsedUp('attempts', past.rounds + 1, limits.attempts);
}

function refuseUsedUp(option: string, used: number, max: number): void {
  if (used < max) return;
  throw new UsageError(
    `limit ${option} is used up (${used} of ${max}): resume with a higher --${option}, up to the policy's limit, or raise it in the policy`,
    { code: 'exhausted' },
  );
}
