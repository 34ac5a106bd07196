import { addUsage, type Emit, type LimitName, NO_USAGE, type Usage } from '../events/index.ts';
import type { Limits } from '../policy/index.ts';

export interface LimitHit {
  limit: string;
  used: number;
  max: number;
}

/** What the thread has used so far, and which limit forbids the next step. Checked before spending, never after. */
export interface Budget {
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** null once an answer of unknown price was counted. */
  readonly costUsd: number | null;
  /** Whether one more answer may be asked for, which will cost about `inputTokens`. */
  forbidsAnswer(inputTokens: number, elapsedMs: number): LimitHit | null;
  forbidsToolCall(): LimitHit | null;
  countTurn(): void;
  countToolCall(): void;
  countUsage(usage: Usage, costUsd: number | null): void;
  /** Whether the answer about to be asked for is the last one allowed. */
  isLastTurn(): boolean;
  /** Emits `limit.warned` once for each limit that is 80 % used. */
  warn(emit: Emit, elapsedMs: number): Promise<void>;
}

const WARN_AT = 0.8;

export interface BudgetStart {
  turns: number;
  toolCalls: number;
  usage: Usage;
  costUsd: number;
}

export const FRESH_BUDGET: BudgetStart = { turns: 0, toolCalls: 0, usage: NO_USAGE, costUsd: 0 };

export function createBudget(limits: Limits, agentDeadlineMs: number, before: BudgetStart): Budget {
  let { turns, toolCalls, usage } = before;
  let costUsd: number | null = before.costUsd;
  const warned = new Set<LimitName>();
  const tokens = () => usage.input_tokens + usage.output_tokens;

  const hit = (limit: string, used: number, max: number): LimitHit | null =>
    used >= max ? { limit, used, max } : null;

  return {
    get turns() {
      return turns;
    },
    get toolCalls() {
      return toolCalls;
    },
    get usage() {
      return usage;
    },
    get costUsd() {
      return costUsd;
    },
    forbidsAnswer(inputTokens, elapsedMs) {
      const overTokens =
        tokens() + inputTokens > limits.tokens ? { limit: 'tokens', used: tokens(), max: limits.tokens } : null;
      return (
        hit('turns', turns, limits.turns) ??
        hit('wall_time', elapsedMs, agentDeadlineMs) ??
        overTokens ??
        (costUsd === null ? null : hit('cost_usd', costUsd, limits.costUsd))
      );
    },
    forbidsToolCall: () => hit('tool_calls', toolCalls, limits.toolCalls),
    countTurn() {
      turns++;
    },
    countToolCall() {
      toolCalls++;
    },
    countUsage(more, cost) {
      usage = addUsage(usage, more);
      costUsd = costUsd === null || cost === null ? null : costUsd + cost;
    },
    isLastTurn: () => turns + 1 >= limits.turns,
    async warn(emit, elapsedMs) {
      const uses: [LimitName, number, number][] = [
        ['turns', turns, limits.turns],
        ['wall_time_ms', elapsedMs, limits.wallTimeMs],
        ['tokens', tokens(), limits.tokens],
        ['tool_calls', toolCalls, limits.toolCalls],
        ...(costUsd === null ? [] : [['cost_usd', costUsd, limits.costUsd] satisfies [LimitName, number, number]]),
      ];
      for (const [limit, used, max] of uses) {
        if (max <= 0 || used < WARN_AT * max || warned.has(limit)) continue;
        warned.add(limit);
        await emit({ type: 'limit.warned', limit, used, max });
      }
    },
  };
}
