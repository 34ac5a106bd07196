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
  readonly turnsLeft: number;
  /** Whether one more answer may be asked for: what a request of `inputTokens` and its answer are likely to cost is reserved. */
  forbidsAnswer(inputTokens: number, elapsedMs: number): LimitHit | null;
  forbidsToolCall(): LimitHit | null;
  countTurn(): void;
  countToolCall(): void;
  countUsage(usage: Usage, costUsd: number | null): void;
  /** What answers are like: the next one is expected to be like them. */
  learnAnswer(usage: Usage): void;
  /** Whether the answer about to be asked for is the last one allowed. */
  isLastTurn(): boolean;
  /** Emits `limit.warned` once for each limit that is 80 % used. */
  warn(emit: Emit, elapsedMs: number): Promise<void>;
  /** What is left, one line a limit, for the model. The same in a replay, hence the time only by halves. */
  renderLeft(elapsedMs: number): string[];
}

const WARN_AT = 0.8;

export interface BudgetStart {
  turns: number;
  toolCalls: number;
  usage: Usage;
  /** null once an answer of unknown price was counted. */
  costUsd: number | null;
}

export function createBudget(options: {
  limits: Limits;
  agentDeadlineMs: number;
  before: BudgetStart;
  /** null when the price is unknown, or not known yet. */
  costOf(usage: Usage): number | null;
}): Budget {
  const { limits, agentDeadlineMs, before, costOf } = options;
  let answers = 0;
  let outputTokens = 0;
  let cachedTokens = 0;
  let { turns, toolCalls, usage, costUsd } = before;
  const warned = new Set<LimitName>();
  const tokens = () => usage.input_tokens + usage.output_tokens;

  const hit = (limit: string, used: number, max: number): LimitHit | null =>
    used >= max ? { limit, used, max } : null;

  function expect(inputTokens: number): Usage {
    return {
      ...NO_USAGE,
      input_tokens: Math.ceil(inputTokens),
      cached_input_tokens: Math.min(cachedTokens, Math.ceil(inputTokens)),
      output_tokens: answers === 0 ? 0 : Math.ceil(outputTokens / answers),
    };
  }

  return {
    get turnsLeft() {
      return Math.max(0, limits.turns - turns);
    },
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
      const next = expect(inputTokens);
      const over = (limit: string, used: number, more: number, max: number): LimitHit | null =>
        used >= max || used + more > max ? { limit, used, max } : null;
      return (
        hit('turns', turns, limits.turns) ??
        hit('wall_time', elapsedMs, agentDeadlineMs) ??
        over('tokens', tokens(), next.input_tokens + next.output_tokens, limits.tokens) ??
        (costUsd === null ? null : over('cost_usd', costUsd, costOf(next) ?? 0, limits.costUsd))
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
    learnAnswer(answer) {
      answers++;
      outputTokens += answer.output_tokens;
      cachedTokens = answer.cached_input_tokens;
    },
    renderLeft(elapsedMs) {
      const left = (name: string, used: number, max: number) => `${name}: ${Math.max(0, max - used)} of ${max} left`;
      return [
        left('Answers', turns, limits.turns),
        left('Tool calls', toolCalls, limits.toolCalls),
        left('Tokens', tokens(), limits.tokens),
        ...(limits.costIsExplicit && costUsd !== null
          ? [`Cost: ${costUsd.toFixed(2)} of ${limits.costUsd.toFixed(2)} USD used`]
          : []),
        `Time: ${elapsedMs * 2 > agentDeadlineMs ? 'more' : 'less'} than half is used`,
      ];
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
