import type { JSONObject } from '@ai-sdk/provider';

/** In tokens: the maximum of Gemini 2.5 Flash. */
export const LARGEST_BUDGET = 24_576;

/** Tokens of thinking for providers that take a budget. Anthropic's minimum is 1,024. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  xhigh: LARGEST_BUDGET,
  max: LARGEST_BUDGET,
};
const DEFAULT_BUDGET = 10_000;

/** Claude models before 4.6 think within a budget; later ones choose it themselves (`adaptive`) and take an effort. */
const BUDGETED_CLAUDE = /claude-(3|instant|(opus|sonnet|haiku)-4($|-[0-5]($|[^0-9])|-2025|@))/;

/** Whether this Claude model decides itself how long it thinks. */
export function isAdaptiveClaude(name: string): boolean {
  return name.includes('claude') && !BUDGETED_CLAUDE.test(name);
}

/** Whether this Claude model thinks within a budget that it is given. */
export function isBudgetedClaude(name: string): boolean {
  return name.includes('claude') && BUDGETED_CLAUDE.test(name);
}

export function anthropicThinking(name: string, effort: string): JSONObject {
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (isAdaptiveClaude(name)) return { thinking: { type: 'adaptive' }, effort: effort === 'minimal' ? 'low' : effort };
  return { thinking: { type: 'enabled', budgetTokens: BUDGETS[effort] ?? DEFAULT_BUDGET } };
}

/** Gemini 2.5 takes a budget, later models a level. 2.5 Pro cannot stop thinking (minimum 128). */
export function googleThinking(name: string, effort: string): JSONObject {
  if (/gemini-(1|2)([.-]|$)/.test(name)) {
    const least = name.includes('pro') ? 128 : 0;
    const thinkingBudget = effort === 'none' ? least : (BUDGETS[effort] ?? DEFAULT_BUDGET);
    return { thinkingBudget, includeThoughts: true };
  }
  const level = effort === 'none' ? 'minimal' : effort === 'xhigh' || effort === 'max' ? 'high' : effort;
  // Gemini 3 Pro knows low and high only at first; `low` is its floor.
  const thinkingLevel = name.includes('pro') && level === 'minimal' ? 'low' : level;
  return { thinkingLevel, includeThoughts: true };
}

/** Bedrock takes Claude's two ways to think, and an effort for all other models that reason. */
export function bedrockReasoning(name: string, effort: string): JSONObject {
  if (effort === 'none') return { type: 'disabled' };
  if (isBudgetedClaude(name)) return { type: 'enabled', budgetTokens: BUDGETS[effort] ?? DEFAULT_BUDGET };
  const maxReasoningEffort = effort === 'minimal' ? 'low' : effort;
  return { type: isAdaptiveClaude(name) ? 'adaptive' : 'enabled', maxReasoningEffort };
}
