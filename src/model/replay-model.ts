import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, UsageError } from '../errors.ts';
import { NO_USAGE, type Usage } from '../events/index.ts';
import type { ModelPolicy } from '../policy/index.ts';
import { createCallIds, dropCutCalls, makeCallIdsUnique } from './answer-parts.ts';
import { type CassetteAnswer, partsOf } from './cassette.ts';
import { ASSUMED_WINDOW_TOKENS, contextWindowOf } from './context-windows.ts';
import type { AnswerOptions, Model, ModelFailure, ModelOutcome, ModelRequest } from './model.ts';
import { parseFailure } from './parse-failure.ts';
import { loadPrices } from './prices.ts';
import { readCassette } from './read-cassette.ts';
import { createRequestDigest } from './request-digest.ts';
import { createRetryingModel } from './retrying-model.ts';

/** A request that is not the one that the answer was recorded for. */
export interface Drift {
  /** Of the answer in the cassette, from 0. */
  index: number;
  expected: string;
  actual: string;
}

export interface ReplayModelOptions {
  /** A file, or the answers themselves (of `cassetteFromEvents`). */
  cassette: string | readonly CassetteAnswer[];
  /** The policy's model, whose name and limits the replay bears; null: `replay` and the cassette's name. */
  model: ModelPolicy | null;
  /** See `CreateModelOptions`. Without it and without `model.price` a replay has no cost: nothing was paid. */
  needsPrice?: boolean;
  /** Answers at the beginning that were given before. Default: 0. */
  skip?: number;
  onDrift?(drift: Drift): Promise<void> | void;
}

const DEFAULT_RETRIES = 4;

/**
 * A model that gives the answers of a cassette, one a request, whatever is asked. Errors in it pass through the same retries as
 * real ones. The whole cassette is checked before (a pipe cannot be: its errors are failures of code `cassette`).
 */
export async function createReplayModel(options: ReplayModelOptions): Promise<Model> {
  const { cassette, model, needsPrice = false, skip = 0, onDrift } = options;
  const source = typeof cassette === 'string' ? basename(cassette) : 'events';
  if (typeof cassette === 'string') await checkCassette(cassette);
  const costOf = model !== null && (needsPrice || model.price !== null) ? await loadPrices(model) : () => null;
  if (needsPrice && model !== null && costOf(NO_USAGE) === null) {
    throw new UsageError(
      `limits.cost_usd is set, but the price of ${model.provider}/${model.name} is not known: give model.price`,
      { code: 'unknown_price' },
    );
  }
  const answers = typeof cassette === 'string' ? readCassette(cassette) : iterate(cassette);
  const provider = model?.provider ?? 'replay';
  const digestOf = createRequestDigest();
  const takenIds = createCallIds();
  let count = 0;
  let held: IteratorResult<CassetteAnswer, void> | null = null;

  /** The line for a request of this purpose; null when the next one is for another. */
  async function take(purpose: ModelRequest['purpose']): Promise<IteratorResult<CassetteAnswer, void> | null> {
    for (; count < skip; count += 1) await answers.next();
    for (;;) {
      held ??= await answers.next();
      const next = held;
      if (purpose !== undefined && (next.done === true || next.value.purpose !== purpose)) return null;
      held = null;
      if (next.done === true || next.value.purpose === purpose) return next;
      // A summary that this run did not ask for.
      count += 1;
    }
  }

  async function answer(request: ModelRequest, { signal, onText }: AnswerOptions): Promise<ModelOutcome> {
    if (signal.aborted) return { kind: 'aborted', usage: NO_USAGE };
    const failed = (failure: ModelFailure, usage = { ...NO_USAGE, requests: 1 }): ModelOutcome => ({
      kind: 'failed',
      failure,
      usage,
    });
    let next: IteratorResult<CassetteAnswer, void> | null;
    try {
      next = await take(request.purpose);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return failed({ code: 'cassette', message: error.message, retryable: false }, NO_USAGE);
    }
    if (next === null) return failed(noSummary(source), NO_USAGE);
    if (next.done === true) return failed(usedUp(source, count), NO_USAGE);
    const line = next.value;
    const index = count;
    count += 1;
    if (line.request_sha256 !== undefined) {
      const actual = digestOf(request);
      if (actual !== line.request_sha256) await onDrift?.({ index, expected: line.request_sha256, actual });
    }
    if (line.delay_ms !== undefined && !(await waited(line.delay_ms, signal)))
      return { kind: 'aborted', usage: { ...NO_USAGE, requests: 1 } };
    if (line.error !== undefined) return failed(failureOf(line.error, provider));
    if (line.text) onText?.(line.text);
    return { kind: 'answer', answer: answerOf(line, index, takenIds(request.messages)) };
  }

  const single: Model = {
    provider,
    name: model?.name ?? source,
    contextWindow:
      (model === null ? null : (model.contextWindow ?? contextWindowOf(model.name))) ?? ASSUMED_WINDOW_TOKENS,
    answer,
    costOf,
  };
  return createRetryingModel(single, { retries: model?.retries ?? DEFAULT_RETRIES });
}

function answerOf(
  line: CassetteAnswer,
  index: number,
  takenIds: ReadonlySet<string>,
): Extract<ModelOutcome, { kind: 'answer' }>['answer'] {
  const finish = line.finish ?? ((line.tool_calls ?? []).length > 0 ? 'tool_calls' : 'stop');
  const usage: Usage = { ...NO_USAGE, ...line.usage, requests: 1 };
  const { parts, cutCalls } = dropCutCalls(partsOf(line, index), finish);
  return {
    parts: makeCallIdsUnique(parts, takenIds),
    finish,
    usage,
    ...(cutCalls === undefined ? {} : { cutCalls }),
  };
}

function failureOf(
  { http_status, retry_after_s, message = 'scripted failure', reset }: NonNullable<CassetteAnswer['error']>,
  provider: string,
): ModelFailure {
  if (reset === true) return { code: 'network', message: `${provider}: ${message}`, retryable: true };
  if (http_status === undefined) return { code: 'server', message: `${provider}: ${message}`, retryable: true };
  const responseHeaders = retry_after_s === undefined ? {} : { 'retry-after': String(retry_after_s) };
  return parseFailure(
    { statusCode: http_status, message, responseHeaders },
    { provider, isNearWindow: false, nowMs: Date.now() },
  );
}

function noSummary(source: string): ModelFailure {
  return { code: 'cassette', message: `the cassette ${source} has no summary here`, retryable: false };
}

function usedUp(source: string, count: number): ModelFailure {
  return {
    code: 'cassette',
    message: `the cassette ${source} is used up: it has ${count} ${count === 1 ? 'answer' : 'answers'}`,
    retryable: false,
  };
}

async function waited(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(delayMs, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

async function checkCassette(file: string): Promise<void> {
  if (await isPipe(file)) return;
  for await (const _ of readCassette(file)) {
    // Reading is the check.
  }
}

/** A pipe can be read only once. */
async function isPipe(file: string): Promise<boolean> {
  try {
    const found = await stat(file);
    return !found.isFile() && !found.isDirectory();
  } catch (error) {
    // What is wrong with it is told by the reader.
    if (codeOf(error) !== null) return false;
    throw error;
  }
}

async function* iterate(answers: readonly CassetteAnswer[]): AsyncGenerator<CassetteAnswer, void, undefined> {
  yield* answers;
}
