import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../src/events/index.ts';
import { createRetryingModel, type Model, type ModelFailure, type ModelOutcome } from '../../src/model/index.ts';
import { parseRetryAfter } from '../../src/model/retry-after.ts';
import { ask, failureOf } from './fixtures.ts';

const BUSY: ModelFailure = { code: 'server', message: 'busy', retryable: true, httpStatus: 503 };
const ONE = { ...NO_USAGE, requests: 1 };
const FINE: ModelOutcome = {
  kind: 'answer',
  answer: { parts: [], finish: 'stop', usage: { ...ONE, input_tokens: 5 } },
};
const failed = (failure: ModelFailure): ModelOutcome => ({ kind: 'failed', failure, usage: ONE });

function retrying(outcomes: readonly ModelOutcome[], retries: number): { model: Model; sleeps: number[] } {
  const left = [...outcomes];
  const sleeps: number[] = [];
  const single: Model = {
    provider: 'p',
    name: 'm',
    contextWindow: 7,
    costOf: () => 1,
    answer: async () => left.shift() ?? FINE,
  };
  const sleep = async (delayMs: number): Promise<void> => void sleeps.push(delayMs);
  return { model: createRetryingModel(single, { retries, random: () => 0.5, sleep }), sleeps };
}

describe('a retrying model', () => {
  test('waits a random part of a doubling time of at most 30 s', async () => {
    const { model, sleeps } = retrying(
      Array.from({ length: 7 }, () => failed(BUSY)),
      7,
    );
    const asked = await ask(model);
    expect(sleeps).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(asked.retries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(asked.retries[0]).toEqual({ attempt: 1, delayMs: 500, httpStatus: 503, reason: 'busy' });
    expect(asked.outcome).toMatchObject({ answer: { usage: { input_tokens: 5, requests: 8, retries: 7 } } });
  });

  test('waits as long as the provider asks', async () => {
    const { model, sleeps } = retrying(
      [failed({ ...BUSY, retryAfterMs: 42_000 }), failed({ ...BUSY, retryAfterMs: 0 })],
      2,
    );
    await ask(model);
    expect(sleeps).toEqual([42_000, 0]);
  });

  test('does not wait for a provider that asks for more than five minutes', async () => {
    const { model, sleeps } = retrying([failed({ ...BUSY, retryAfterMs: 86_400_000 })], 4);
    const asked = await ask(model);
    expect(sleeps).toEqual([]);
    expect(failureOf(asked)).toMatchObject({
      retryable: true,
      message: 'busy (it asks to wait 86400 s; belay waits 300 s at most)',
    });
  });

  test('gives up after the policy’s retries, and at once where no try can help', async () => {
    const { model } = retrying([failed(BUSY), failed(BUSY), failed(BUSY)], 2);
    expect((await ask(model)).outcome).toEqual({
      kind: 'failed',
      failure: BUSY,
      usage: { ...NO_USAGE, requests: 3, retries: 2 },
    });
    const final = retrying([failed({ ...BUSY, retryable: false })], 2);
    expect((await ask(final.model)).outcome).toMatchObject({ usage: { requests: 1, retries: 0 } });
  });
});

test.each([
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 8000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{}, undefined],
])('retry-after %j is %s ms', (headers: Record<string, string>, expected) => {
  expect(parseRetryAfter(headers, 1000)).toBe(expected);
});
