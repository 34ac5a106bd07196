import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import type { Usage } from '../events/index.ts';
import { foldGrowing } from './fold-growing.ts';
import type {
  Answer,
  AnswerPart,
  FinishReason,
  Message,
  ProviderState,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from './model.ts';
import { parseToolInput } from './tool-input.ts';

interface OpenCall {
  part: ToolCallPart;
  isComplete: boolean;
}

interface Finish {
  reason: LanguageModelV3FinishReason;
  usage: LanguageModelV3Usage;
}

/** Gathers the parts of one streamed answer in the order in which they began. */
export interface PartCollector {
  add(part: LanguageModelV3StreamPart): void;
  /** null until the provider said that the answer is over. */
  readonly finish: Finish | null;
  take(): AnswerPart[];
  /** Calls that began and were never completed. */
  takeIncomplete(): ToolCallPart[];
}

export function createPartCollector(onText: (text: string) => void): PartCollector {
  const parts: (TextPart | ReasoningPart | OpenCall)[] = [];
  const open = {
    text: new Map<string, TextPart | ReasoningPart>(),
    reasoning: new Map<string, TextPart | ReasoningPart>(),
    call: new Map<string, OpenCall>(),
  };
  let finish: Finish | null = null;

  function begin(type: 'text' | 'reasoning', id: string): TextPart | ReasoningPart {
    const part: TextPart | ReasoningPart = { type, text: '' };
    parts.push(part);
    open[type].set(id, part);
    return part;
  }
  function call(id: string, name: string): OpenCall {
    const known = open.call.get(id);
    if (known !== undefined && !known.isComplete) return known;
    const fresh: OpenCall = { part: { type: 'tool_call', id, name, input: '' }, isComplete: false };
    parts.push(fresh);
    open.call.set(id, fresh);
    return fresh;
  }
  function extend(
    type: 'text' | 'reasoning',
    part: { id: string; providerMetadata?: SharedV3ProviderMetadata },
    delta: string,
  ): void {
    const target = open[type].get(part.id) ?? begin(type, part.id);
    target.text += delta;
    keepState(target, part.providerMetadata);
  }

  return {
    get finish() {
      return finish;
    },
    add(part) {
      switch (part.type) {
        case 'text-start':
          keepState(begin('text', part.id), part.providerMetadata);
          break;
        case 'text-delta':
          extend('text', part, part.delta);
          if (part.delta !== '') onText(part.delta);
          break;
        case 'text-end':
          extend('text', part, '');
          break;
        case 'reasoning-start':
          keepState(begin('reasoning', part.id), part.providerMetadata);
          break;
        case 'reasoning-delta':
          extend('reasoning', part, part.delta);
          break;
        case 'reasoning-end':
          extend('reasoning', part, '');
          break;
        case 'tool-input-start':
          if (part.providerExecuted !== true) keepState(call(part.id, part.toolName).part, part.providerMetadata);
          break;
        case 'tool-call': {
          if (part.providerExecuted === true) break;
          const target = call(part.toolCallId, part.toolName);
          target.isComplete = true;
          target.part.name = part.toolName;
          // A call without arguments is an empty object on every wire, whatever the server sent for it.
          target.part.input = part.input.trim() === '' ? '{}' : part.input;
          keepState(target.part, part.providerMetadata);
          break;
        }
        case 'finish':
          finish = { reason: part.finishReason, usage: part.usage };
          break;
        default:
          break;
      }
    },
    takeIncomplete: () => parts.flatMap((part) => ('part' in part && !part.isComplete ? [part.part] : [])),
    take() {
      return parts.flatMap((part): AnswerPart[] => {
        if ('part' in part) return part.isComplete ? [part.part] : [];
        return part.text === '' && part.state === undefined ? [] : [part];
      });
    },
  };
}

/** The provider's latest word on a part counts; the SDK goes on changing some of these objects, hence the copy. */
function keepState(part: { state?: ProviderState }, metadata: SharedV3ProviderMetadata | undefined): void {
  if (metadata !== undefined && Object.keys(metadata).length > 0) part.state = structuredClone(metadata);
}

/**
 * A call that was cut at the output limit is left out of the answer: its text is broken, it must never run, and a wire would
 * want a result for it. A call before the cut that is whole stays, and gets a result like any other.
 */
export function dropCutCalls(
  parts: readonly AnswerPart[],
  finish: FinishReason,
  incomplete: readonly ToolCallPart[] = [],
): Pick<Answer, 'parts' | 'cutCalls'> {
  if (finish !== 'length') return { parts };
  const isCut = (part: AnswerPart) => part.type === 'tool_call' && parseToolInput(part.input) === null;
  const cutCalls = [
    ...parts.flatMap((part) => (part.type === 'tool_call' && isCut(part) ? [part] : [])),
    ...incomplete,
  ];
  return { parts: parts.filter((part) => !isCut(part)), ...(cutCalls.length === 0 ? {} : { cutCalls }) };
}

/** The ids of all calls of a thread, asked for again as it grows. */
export function createCallIds(): (messages: readonly Message[]) => ReadonlySet<string> {
  return foldGrowing<Message, Set<string>>({
    start: () => new Set(),
    add(ids, message) {
      if (message.role === 'assistant')
        for (const part of message.parts) if (part.type === 'tool_call') ids.add(part.id);
      return ids;
    },
  });
}

/** Some servers number their calls anew in each answer, or not at all; ids are unique in a thread, so one of `taken` gets a suffix. */
export function makeCallIdsUnique(parts: readonly AnswerPart[], taken: ReadonlySet<string>): AnswerPart[] {
  const own = new Set(['']);
  return parts.map((part) => {
    if (part.type !== 'tool_call') return part;
    let id = part.id;
    for (let n = 1; taken.has(id) || own.has(id); n += 1) id = `${part.id || 'call'}_${n}`;
    own.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

/**
 * Refusals come as the provider's own stop reason, or (OpenAI) as refusal text before an ordinary stop. Servers that end an
 * answer with calls in some other way than `tool_calls` mean the same.
 */
export function finishOf({ unified, raw }: LanguageModelV3FinishReason, parts: readonly AnswerPart[]): FinishReason {
  const hasCalls = parts.some((part) => part.type === 'tool_call');
  switch (unified) {
    case 'length':
      return 'length';
    case 'stop':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'tool-calls':
      return hasCalls ? 'tool_calls' : 'other';
    case 'content-filter':
      return raw === undefined || raw === 'stop' || raw === 'refusal' ? 'refusal' : 'content_filter';
    case 'error':
    case 'other':
      return hasCalls ? 'tool_calls' : 'other';
  }
}

export function usageOf({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage {
  const input = countOf(inputTokens.total);
  const output = countOf(outputTokens.total);
  return {
    input_tokens: input,
    cached_input_tokens: Math.min(countOf(inputTokens.cacheRead), input),
    output_tokens: output,
    reasoning_tokens: Math.min(countOf(outputTokens.reasoning), output),
    requests: 1,
    retries: 0,
  };
}

/** Servers have sent NaN, negative and fractional counts. */
function countOf(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.floor(tokens) : 0;
}
