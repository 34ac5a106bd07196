import type { Limits } from './policy.ts';

/** The limits that a run counts against, by the names that the result and `limit.warned` use for them. */
export interface LimitsView {
  turns: number;
  attempts: number;
  wall_time_ms: number;
  tokens: number;
  cost_usd: number;
  tool_calls: number;
}

export function limitsView(limits: Limits): LimitsView {
  return {
    turns: limits.turns,
    attempts: limits.attempts,
    wall_time_ms: limits.wallTimeMs,
    tokens: limits.tokens,
    cost_usd: limits.costUsd,
    tool_calls: limits.toolCalls,
  };
}
