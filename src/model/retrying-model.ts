import { setTimeout as pause } from 'node:timers/promises';
import { addUsage, NO_USAGE } from '../events/index.ts';
import type { AnswerOptions, Model, ModelFailure, ModelOutcome, ModelRequest, RetryNotice } from './model.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** A provider that asks for more than this is out of service for this run. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

export interface RetryingModelOptions {
  /** Tries after the first. */
  retries: number;
  /** 0 ≤ x < 1. */
  random?: () => number;
  /** Rejects when the signal aborts. */
  sleep?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Repeats what may help: failures marked `retryable`, after what the provider asks for, else after a random part of 1, 2, 4 …
 * 30 s. `usage` counts every try; the tokens of a try that failed with known usage count as well.
 */
export function createRetryingModel(model: Model, options: RetryingModelOptions): Model {
  const { retries, random = Math.random, sleep = sleepUnlessAborted } = options;

  async function answer(request: ModelRequest, answerOptions: AnswerOptions): Promise<ModelOutcome> {
    const { signal, onRetry } = answerOptions;
    let spent = NO_USAGE;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await model.answer(request, answerOptions);
      if (outcome.kind === 'answer')
        return { kind: 'answer', answer: { ...outcome.answer, usage: addUsage(spent, outcome.answer.usage) } };
      spent = addUsage(spent, outcome.usage);
      if (outcome.kind === 'aborted') return { kind: 'aborted', usage: spent };
      const failure = boundRetryAfter(outcome.failure);
      if (!failure.retryable || attempt > retries || isTooFar(failure))
        return { kind: 'failed', failure, usage: spent };
      const delayMs =
        failure.retryAfterMs ?? Math.floor(random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
      await onRetry?.(noticeOf(attempt, delayMs, failure));
      try {
        await sleep(delayMs, signal);
      } catch (error) {
        if (signal.aborted) return { kind: 'aborted', usage: spent };
        throw error;
      }
      spent = { ...spent, retries: spent.retries + 1 };
    }
  }

  return {
    provider: model.provider,
    name: model.name,
    contextWindow: model.contextWindow,
    answer,
    costOf: (usage) => model.costOf(usage),
  };
}

function isTooFar({ retryAfterMs }: ModelFailure): boolean {
  return retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_AFTER_MS;
}

function boundRetryAfter(failure: ModelFailure): ModelFailure {
  if (!failure.retryable || !isTooFar(failure)) return failure;
  const seconds = Math.round((failure.retryAfterMs ?? 0) / 1000);
  return {
    ...failure,
    message: `${failure.message} (it asks to wait ${seconds} s; belay waits ${LONGEST_RETRY_AFTER_MS / 1000} s at most)`,
  };
}

function noticeOf(attempt: number, delayMs: number, { httpStatus, message }: ModelFailure): RetryNotice {
  return { attempt, delayMs, reason: message, ...(httpStatus === undefined ? {} : { httpStatus }) };
}

async function sleepUnlessAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  await pause(delayMs, undefined, { signal });
}
