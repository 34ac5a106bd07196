import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { NO_USAGE, type Usage } from '../events/index.ts';
import {
  createCallIds,
  createPartCollector,
  dropCutCalls,
  finishOf,
  makeCallIdsUnique,
  type PartCollector,
  usageOf,
} from './answer-parts.ts';
import { foldGrowing } from './fold-growing.ts';
import { createIdleWatch, type IdleWatch } from './idle-watch.ts';
import type { Answer, AnswerOptions, Message, Model, ModelFailure, ModelOutcome, ModelRequest } from './model.ts';
import { parseFailure } from './parse-failure.ts';
import { renderCall } from './render-call.ts';
import type { RenderedTurns } from './render-prompt.ts';
import type { Transport } from './transport.ts';
import { ResponseTooLargeError, TransportError } from './transport-error.ts';
import type { WireSettings } from './wire.ts';

export interface AiSdkModelOptions extends WireSettings {
  provider: string;
  languageModel: Pick<LanguageModelV3, 'doStream'>;
  transport: Pick<Transport, 'watch'>;
  /** Idle time between bytes, the first one included. */
  requestTimeoutMs: number;
  costOf(usage: Usage): number | null;
}

const CHARACTERS_A_TOKEN = 4;
const NEAR_SHARE = 0.8;
/** Some ten times what a model of today can answer with. */
const MAX_ANSWER_CHARACTERS = 8 * 1024 * 1024;
/** No model of today has a smaller window: below it a refusal has another reason. */
const LEAST_CHARACTERS = 4000 * CHARACTERS_A_TOKEN;

/** An error part of the stream, on its way to `parseFailure`. */
class StreamPartError extends Error {
  override readonly name = 'StreamPartError';
}

/** A model of an AI SDK provider (specification V3). One try a call: repeats are `createRetryingModel`'s. */
export function createAiSdkModel(options: AiSdkModelOptions): Model {
  const { provider, name, contextWindow, isWindowAssumed, languageModel, transport, requestTimeoutMs, costOf } =
    options;

  const memo: RenderedTurns = new WeakMap();
  const countCharacters = foldGrowing<Message, number>({
    start: () => 0,
    add: (count, message) => count + charactersOf(message),
  });
  /** Of the longest request that was answered. */
  let acceptedCharacters = 0;

  const takenIds = createCallIds();
  const lengthOf = ({ system, messages }: ModelRequest) => system.length + countCharacters(messages);

  async function answer(request: ModelRequest, { signal, onText }: AnswerOptions): Promise<ModelOutcome> {
    if (signal.aborted) return { kind: 'aborted', usage: NO_USAGE };
    const watch = createIdleWatch(requestTimeoutMs, signal);
    transport.watch(watch.signal, watch.touch);
    const collector = createPartCollector(onText ?? (() => {}));
    try {
      const { stream } = await watch.guard(
        languageModel.doStream({ ...renderCall(request, options, memo), abortSignal: watch.signal }),
      );
      watch.touch();
      await collect(stream, { collector, watch, provider });
      acceptedCharacters = Math.max(acceptedCharacters, lengthOf(request));
      return settle(collector, takenIds(request.messages), provider);
    } catch (error) {
      const usage = { ...NO_USAGE, requests: 1 };
      if (signal.aborted) return { kind: 'aborted', usage };
      return {
        kind: 'failed',
        failure: watch.isStalled ? stalled(provider, requestTimeoutMs) : failureOf(error, request),
        usage,
      };
    } finally {
      watch.stop();
    }
  }

  function failureOf(error: unknown, request: ModelRequest): ModelFailure {
    return parseFailure(error instanceof StreamPartError ? error.cause : error, {
      provider,
      isNearWindow: mayBeTooLong(request),
      nowMs: Date.now(),
    });
  }

  /**
   * Where the window is only assumed, it may be far smaller: a conversation that was answered until it grew is then taken for too long. A
   * wrong guess costs one compaction and one request, and the next refusal is told as it is.
   */
  function mayBeTooLong(request: ModelRequest): boolean {
    const characters = lengthOf(request);
    if (characters / CHARACTERS_A_TOKEN > contextWindow * NEAR_SHARE) return true;
    return isWindowAssumed && acceptedCharacters > 0 && characters > Math.max(acceptedCharacters, LEAST_CHARACTERS);
  }

  return { provider, name, contextWindow, answer, costOf };
}

async function collect(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  { collector, watch, provider }: { collector: PartCollector; watch: IdleWatch; provider: string },
): Promise<void> {
  const reader = stream.getReader();
  let characters = 0;
  try {
    for (;;) {
      const { done, value } = await watch.guard(reader.read());
      if (done) return;
      watch.touch();
      if (value.type === 'error') throw new StreamPartError('the stream carried an error', { cause: value.error });
      // Providers' packages parse the input of a call anew with every piece of it.
      if ('delta' in value) characters += value.delta.length;
      if (characters > MAX_ANSWER_CHARACTERS)
        throw new TransportError(provider, new ResponseTooLargeError(`more than ${MAX_ANSWER_CHARACTERS} characters`));
      collector.add(value);
    }
  } finally {
    // The source may be gone already; why is known from the error that led here.
    reader.cancel().catch(() => {});
  }
}

function settle(
  { finish, take, takeIncomplete }: PartCollector,
  takenIds: ReadonlySet<string>,
  provider: string,
): ModelOutcome {
  // Some SDK providers end a stream that broke off with a finish of their own, which has no reason of the provider's.
  if (finish === null || (finish.reason.unified === 'other' && finish.reason.raw === undefined)) {
    const failure = { code: 'network', message: `${provider}: the answer broke off before its end`, retryable: true };
    return { kind: 'failed', failure, usage: finish === null ? { ...NO_USAGE, requests: 1 } : usageOf(finish.usage) };
  }
  const usage = usageOf(finish.usage);
  if (finish.reason.raw === 'model_context_window_exceeded') {
    const failure = {
      code: 'context_too_long',
      message: `${provider}: the model's window was full before the answer was done`,
      retryable: false,
    };
    return { kind: 'failed', failure, usage };
  }
  if (finish.reason.unified === 'error') {
    const failure = {
      code: 'malformed',
      message: `${provider} ended the answer with ${finish.reason.raw ?? 'an error'}`,
      retryable: true,
    };
    return { kind: 'failed', failure, usage };
  }
  const parts = take();
  const reason = finishOf(finish.reason, parts);
  const { parts: whole, cutCalls } = dropCutCalls(parts, reason, takeIncomplete());
  const answer: Answer = {
    parts: makeCallIdsUnique(whole, takenIds),
    finish: reason,
    usage,
    ...(cutCalls === undefined ? {} : { cutCalls }),
  };
  return { kind: 'answer', answer };
}

function stalled(provider: string, idleMs: number): ModelFailure {
  return { code: 'stalled', message: `${provider} sent nothing for ${idleMs} ms`, retryable: true };
}

function charactersOf(message: Message): number {
  if (message.role === 'user') return message.text.length;
  const texts =
    message.role === 'tool'
      ? message.results.map(({ text }) => text)
      : message.parts.map((part) => (part.type === 'tool_call' ? part.input : part.text));
  return texts.reduce((count, text) => count + text.length, 0);
}
