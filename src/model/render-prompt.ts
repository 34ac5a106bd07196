import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { AnswerPart, Message, ModelRequest, ProviderState, ToolCallPart, ToolResultPart } from './model.ts';
import { isRecord, parseToolInput } from './tool-input.ts';
import { isBedrock, type Wire } from './wire.ts';

type AssistantPart = LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart;
type AssistantMessage = Extract<Message, { role: 'assistant' }>;

type ToolMessage = Extract<Message, { role: 'tool' }>;

/** Turns as they were rendered for the request before: messages do not change, so that a long thread is not rendered anew each time. */
export type RenderedTurns = WeakMap<
  AssistantMessage,
  { answers: readonly ToolMessage[]; rendered: readonly LanguageModelV3Message[] }
>;

const NOT_RUN = 'This call was not run.';

/**
 * belay's messages in the provider's prompt. What wires refuse is mended here, the same way each time, so that prefixes stay
 * identical: a call without a result gets one, a result without a call is left out, empty parts and reasoning that nothing
 * follows are left out, input that is no JSON object becomes one.
 */
export function renderPrompt(
  request: ModelRequest,
  wire: Wire,
  memo: RenderedTurns = new WeakMap(),
): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = [];
  if (request.system !== '') prompt.push({ role: 'system', content: request.system });
  const { messages } = request;
  for (let i = 0; i < messages.length; i += 1) {
    const message = messages[i];
    if (message?.role === 'user') prompt.push({ role: 'user', content: [{ type: 'text', text: message.text }] });
    if (message?.role !== 'assistant') continue;
    const answers: ToolMessage[] = [];
    for (let next = messages[i + 1]; next?.role === 'tool'; next = messages[i + 1]) {
      answers.push(next);
      i += 1;
    }
    const known = memo.get(message);
    const isKnown = known?.answers.length === answers.length && answers.every((one, k) => one === known.answers[k]);
    const rendered = isKnown
      ? known.rendered
      : renderTurn(
          message,
          answers.flatMap(({ results }) => results),
          wire,
        );
    if (!isKnown) memo.set(message, { answers, rendered });
    prompt.push(...rendered);
  }
  const mark = CACHE_MARKS[wire];
  if (mark !== undefined) markCacheBreakpoints(prompt, mark);
  return prompt;
}

function renderTurn(message: AssistantMessage, results: ToolResultPart[], wire: Wire): LanguageModelV3Message[] {
  const content = renderParts(message.parts, wire);
  if (content.length === 0) return [];
  const byId = new Map(results.map((result) => [result.callId, result]));
  const calls = message.parts.filter((part) => part.type === 'tool_call');
  const answered = calls.map((call) => renderResult(call, byId.get(call.id), wire));
  return [
    { role: 'assistant', content },
    ...(answered.length > 0 ? [{ role: 'tool' as const, content: answered }] : []),
  ];
}

function renderParts(parts: readonly AnswerPart[], wire: Wire): AssistantPart[] {
  const content = parts.flatMap((part) => renderPart(part, wire));
  // Providers refuse a message that ends in reasoning: it belongs to what it leads to.
  const end = content.findLastIndex((part) => part.type !== 'reasoning');
  return content.slice(0, end + 1);
}

function renderPart(part: AnswerPart, wire: Wire): AssistantPart[] {
  const options = renderState(part.state);
  if (part.type === 'reasoning') return [{ type: 'reasoning', text: part.text, ...options }];
  if (part.type === 'tool_call') return [renderCall(part, wire)];
  const isEmpty = wire === 'anthropic' || isBedrock(wire) ? part.text.trim() === '' : part.text === '';
  return isEmpty ? [] : [{ type: 'text', text: part.text, ...options }];
}

function renderCall(call: ToolCallPart, wire: Wire): LanguageModelV3ToolCallPart {
  const parsed = parseToolInput(call.input);
  const isTextWire = wire === 'openai-responses' || wire === 'openai-chat' || wire === 'openai-compatible';
  // Sent back letter for letter where the wire carries text: the provider's cache holds what the model wrote. Not through a package,
  // whose version may make a text of the text.
  // The wrapping of broken input is the one that Anthropic's documentation gives for it.
  const input = parsed === null ? { INVALID_JSON: call.input } : isTextWire ? call.input : parsed;
  return { type: 'tool-call', ...identityOf(call, wire), input, ...renderState(call.state) };
}

function renderResult(
  call: ToolCallPart,
  result: ToolResultPart | undefined,
  wire: Wire,
): LanguageModelV3ToolResultPart {
  // Anthropic refuses an empty result of a failed call.
  const value = result === undefined ? NOT_RUN : result.text === '' ? '(no output)' : result.text;
  const type = result === undefined || result.isError ? 'error-text' : 'text';
  return { type: 'tool-result', ...identityOf(call, wire), output: { type, value } };
}

/** A name that the model made up may hold characters that the provider refuses when it comes back; so may an id of another provider. */
function identityOf(call: ToolCallPart, wire: Wire): { toolCallId: string; toolName: string } {
  return {
    toolCallId: wire === 'anthropic' || isBedrock(wire) ? call.id.replaceAll(/[^A-Za-z0-9_-]/g, '_') : call.id,
    toolName: call.name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed',
  };
}

function renderState(state: ProviderState | undefined): { providerOptions?: SharedV3ProviderOptions } {
  return state !== undefined && isProviderOptions(state) ? { providerOptions: state } : {};
}

function isProviderOptions(state: ProviderState): state is SharedV3ProviderOptions {
  return Object.values(state).every(isRecord);
}

const CACHE_MARKS: Readonly<Partial<Record<Wire, SharedV3ProviderOptions>>> = {
  anthropic: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  'bedrock-claude': { bedrock: { cachePoint: { type: 'default' } } },
};

/**
 * Anthropic allows four breakpoints, there and on Bedrock. One ends tools and system; two end the newest two messages of ours, so that the place
 * that the request before wrote to the cache is marked again and found, however many blocks lie between.
 */
function markCacheBreakpoints(prompt: LanguageModelV3Prompt, mark: SharedV3ProviderOptions): void {
  const first = prompt[0];
  if (first?.role === 'system') prompt[0] = { ...first, providerOptions: mark };
  let marked = 0;
  for (let i = prompt.length - 1; i >= 0 && marked < 2; i -= 1) {
    const message = prompt[i];
    if (message?.role !== 'user' && message?.role !== 'tool') continue;
    marked += 1;
    // Copies: the turn is rendered once for many requests, and marked in two of them.
    prompt[i] =
      message.role === 'user'
        ? { ...message, content: markLast(message.content, mark) }
        : { ...message, content: markLast(message.content, mark) };
  }
}

function markLast<T extends { providerOptions?: SharedV3ProviderOptions }>(
  content: readonly T[],
  mark: SharedV3ProviderOptions,
): T[] {
  return content.map((part, i) => (i === content.length - 1 ? { ...part, providerOptions: mark } : part));
}
