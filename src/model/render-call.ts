import { createHash } from 'node:crypto';
import type {
  JSONObject,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { ModelRequest, ToolSpec } from './model.ts';
import {
  anthropicThinking,
  bedrockReasoning,
  googleThinking,
  isAdaptiveClaude,
  isBudgetedClaude,
  LARGEST_BUDGET,
} from './reasoning-options.ts';
import { type RenderedTurns, renderPrompt } from './render-prompt.ts';
import { isBedrock, type WireSettings } from './wire.ts';

/** One request in the AI SDK's form. Nothing volatile: equal requests give equal bytes. */
export function renderCall(
  request: ModelRequest,
  settings: WireSettings,
  memo?: RenderedTurns,
): LanguageModelV3CallOptions {
  const tools = request.tools.map((tool) => renderTool(tool, settings));
  const maxOutputTokens = request.maxOutputTokens ?? defaultMaxOutputTokens(settings);
  return {
    prompt: renderPrompt(request, settings.wire, memo),
    ...(tools.length > 0 ? { tools, toolChoice: { type: 'auto' as const } } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    providerOptions: renderOptions(request, settings),
  };
}

function renderTool(tool: ToolSpec, { wire }: WireSettings): LanguageModelV3FunctionTool {
  // OpenAI turns a schema without `strict` into a strict one where it can, which makes optional properties required.
  const strict = wire === 'openai-responses' || wire === 'azure' || wire === 'openai-chat' ? { strict: false } : {};
  return { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.inputSchema, ...strict };
}

/** Of what Claude Opus 4 may answer, the smallest of those that think within a budget: what is left beside the largest one. */
const BESIDE_BUDGET = 32_000 - LARGEST_BUDGET;

/**
 * Only Anthropic demands a number, and refuses one that does not fit beside the input. A tenth of the window leaves room
 * until compaction; models that think within the same number get the 32,000 of Anthropic's own agent. On Bedrock the SDK adds the
 * number to a budget of thinking, and would take a small one of its own.
 */
function defaultMaxOutputTokens({ wire, name, reasoningEffort, contextWindow }: WireSettings): number | undefined {
  const thinks = reasoningEffort !== null && reasoningEffort !== 'none';
  if (isBedrock(wire)) return thinks && isBudgetedClaude(name) ? BESIDE_BUDGET : undefined;
  if (wire !== 'anthropic') return undefined;
  return thinks && isAdaptiveClaude(name) ? 32_000 : Math.min(32_000, Math.floor(contextWindow / 10));
}

function renderOptions(request: ModelRequest, { wire, name, reasoningEffort }: WireSettings): SharedV3ProviderOptions {
  // Names that the SDK does not know as reasoning models are such when the policy gives an effort.
  const effort: JSONObject = reasoningEffort === null ? {} : { reasoningEffort, forceReasoning: true };
  const isCodex = name.includes('codex') ? { forceReasoning: true } : {};
  switch (wire) {
    case 'openai-responses':
    case 'azure':
      // For reasoning models the SDK adds `include: [reasoning.encrypted_content]` when nothing is stored; others refuse it.
      // Summaries need a verified organisation, so they are asked for only with an explicit effort.
      return {
        openai: {
          store: false,
          promptCacheKey: cacheKeyOf(request),
          ...isCodex,
          ...effort,
          ...(reasoningEffort === null || reasoningEffort === 'none' ? {} : { reasoningSummary: 'auto' }),
        },
      };
    case 'openai-chat':
      return { openai: { promptCacheKey: cacheKeyOf(request), ...effort } };
    case 'openai-compatible':
      return reasoningEffort === null ? {} : { openaiCompatible: { reasoningEffort } };
    case 'anthropic':
      // Unvalidated argument streaming is off: it trades valid JSON for latency that nobody here watches.
      return {
        anthropic: {
          toolStreaming: false,
          ...(reasoningEffort === null ? {} : anthropicThinking(name, reasoningEffort)),
        },
      };
    case 'google':
      return reasoningEffort === null ? {} : { google: { thinkingConfig: googleThinking(name, reasoningEffort) } };
    case 'bedrock':
    case 'bedrock-claude':
      return reasoningEffort === null ? {} : { bedrock: { reasoningConfig: bedrockReasoning(name, reasoningEffort) } };
    case 'other':
      return {};
  }
}

/** OpenAI takes at most 64 characters. */
function cacheKeyOf({ cacheKey }: ModelRequest): string {
  return cacheKey.length <= 64 ? cacheKey : createHash('sha256').update(cacheKey).digest('hex');
}
