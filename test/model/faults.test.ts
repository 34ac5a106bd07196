import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, ask, failureOf, modelPolicy, openModel, requestOf, scripted } from './fixtures.ts';
import { anthropicStart, chat, chatCall, chunk, resetAfter, sse, stallAfter } from './scripted-server.ts';

const FINE = chat([{ content: 'fine' }]);
const error = (status: number, body: unknown, headers = {}) => ({ status, headers, body: JSON.stringify(body) });

describe('a fault of the network', () => {
  test.each([
    ['before the answer', resetAfter()],
    ['in the answer', resetAfter(chunk({ content: 'par' }))],
    ['after whole calls', resetAfter(...chatCall('shell', '{"command":"rm x"}').map((delta) => chunk(delta)))],
  ])('a reset %s is retried and nothing of the broken answer is kept', async (_, step) => {
    const { model, server } = await scripted('compatible', [step, FINE], { retries: 1 });
    const asked = await ask(model);
    expect(answerOf(asked)).toEqual({
      parts: [{ type: 'text', text: 'fine' }],
      finish: 'stop',
      usage: {
        input_tokens: 100,
        cached_input_tokens: 60,
        output_tokens: 7,
        reasoning_tokens: 0,
        requests: 2,
        retries: 1,
      },
    });
    expect(asked.retries).toEqual([
      { attempt: 1, delayMs: expect.any(Number), reason: expect.stringContaining('ECONNRESET') },
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test.each(['responses', 'chat', 'compatible', 'anthropic', 'google'] as const)(
    'a %s stream that ends without its end is a network failure',
    async (wire) => {
      const begun = {
        responses: { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
        chat: chunk({ content: 'par' }),
        compatible: chunk({ content: 'par' }),
        anthropic: anthropicStart({ input_tokens: 1, output_tokens: 1 }),
        google: { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'par' }] } }] },
      }[wire];
      const { model } = await scripted(wire, [sse(begun)]);
      expect(failureOf(await ask(model))).toMatchObject({ code: 'network', retryable: true });
    },
  );

  test('a refused connection can be tried again', async () => {
    const closed = net.createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    closed.close();
    await once(closed, 'close');
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const model = await openModel(modelPolicy({ baseUrl: `http://127.0.0.1:${port}/v1` }));
    expect(await ask(model)).toMatchObject({
      outcome: {
        failure: { code: 'network', retryable: true, message: expect.stringContaining('ECONNREFUSED') },
        usage: { requests: 1 },
      },
    });
  });

  test('a kept connection that the server resets is a failure like any other: the request may have been taken', async () => {
    const { model, server } = await scripted('compatible', [
      FINE,
      (response) => void response.socket?.resetAndDestroy(),
      FINE,
    ]);
    await ask(model);
    const { port } = new URL(server.url);
    await vi.waitFor(() => expect(Object.keys(http.globalAgent.freeSockets).join()).toContain(`:${port}:`));
    const second = await ask(model);
    expect(failureOf(second)).toMatchObject({ code: 'network', retryable: true });
    expect(server.requests).toHaveLength(2);
  });

  test('an answer without end is cut', async () => {
    const { model } = await scripted('compatible', [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const line = `: ${'x'.repeat(1024 * 1024)}\n`;
        const more = (): void => {
          while (!response.destroyed && response.write(line));
        };
        response.on('drain', more);
        more();
      },
    ]);
    expect(failureOf(await ask(model))).toMatchObject({
      code: 'malformed',
      retryable: false,
      message: expect.stringContaining('TOO_LARGE'),
    });
  });
});

describe('idle time and abort', () => {
  test.each([
    ['before the first byte', stallAfter()],
    ['in the answer', stallAfter(chunk({ content: 'par' }))],
  ])('silence %s is cut after the policy’s time and can be tried again', async (_, step) => {
    const { model } = await scripted('compatible', [step, FINE], { requestTimeoutMs: 150, retries: 1 });
    const asked = await ask(model);
    expect(asked.retries[0]?.reason).toBe('openai-compatible sent nothing for 150 ms');
    expect(answerOf(asked).parts).toEqual([{ type: 'text', text: 'fine' }]);
  });

  test('pings and comments count as life', async () => {
    const { model } = await scripted(
      'compatible',
      [
        (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          let left = 12;
          const timer = setInterval(() => {
            left -= 1;
            if (left > 0) response.write(': still thinking\n\n');
            else clearInterval(timer);
            if (left === 0 && typeof FINE !== 'function') response.end(FINE.body);
          }, 100);
        },
      ],
      { requestTimeoutMs: 900 },
    );
    expect(answerOf(await ask(model)).parts).toEqual([{ type: 'text', text: 'fine' }]);
  });

  test.each([
    ['before the first byte', stallAfter()],
    ['in the answer', stallAfter(chunk({ content: 'par' }))],
  ])('an abort %s ends the wait', async (_, step) => {
    const controller = new AbortController();
    const { model } = await scripted('compatible', [
      (response) => {
        if (typeof step === 'function') step(response);
        setImmediate(() => controller.abort());
      },
    ]);
    expect((await ask(model, requestOf(), controller.signal)).outcome).toEqual({
      kind: 'aborted',
      usage: expect.objectContaining({ requests: 1 }),
    });
  });

  test('an abort before the start sends nothing', async () => {
    const { model, server } = await scripted('compatible', [FINE]);
    const { outcome } = await ask(model, requestOf(), AbortSignal.abort());
    expect(outcome).toMatchObject({ kind: 'aborted', usage: { requests: 0 } });
    expect(server.requests).toEqual([]);
  });

  test('an abort during the pause before a retry ends it', async () => {
    const { model } = await scripted('compatible', [error(503, {}, { 'retry-after': '200' })], { retries: 3 });
    const controller = new AbortController();
    const outcome = await model.answer(requestOf(), {
      signal: controller.signal,
      onRetry: async () => controller.abort(),
    });
    expect(outcome).toMatchObject({ kind: 'aborted', usage: { requests: 1, retries: 0 } });
  });
});

describe('a fault of the provider', () => {
  test.each([
    [400, 'invalid_request', false],
    [401, 'auth', false],
    [403, 'auth', false],
    [404, 'not_found', false],
    [307, 'invalid_request', false],
    [408, 'server', true],
    [409, 'server', true],
    [413, 'context_too_long', false],
    [422, 'invalid_request', false],
    [429, 'rate_limited', true],
    [500, 'server', true],
    [501, 'server', false],
    [503, 'server', true],
    [529, 'server', true],
  ])('HTTP %i is %s', async (httpStatus, code, retryable) => {
    const { model } = await scripted('compatible', [
      error(httpStatus, { error: { message: 'because' } }, { location: 'http://127.0.0.1:9/' }),
    ]);
    expect(failureOf(await ask(model))).toEqual({
      code,
      retryable,
      httpStatus,
      message: `openai-compatible answered ${httpStatus}: because`,
    });
  });

  test.each([
    [
      'responses',
      error(400, { error: { message: 'm', type: 'invalid_request_error', code: 'context_length_exceeded' } }),
      'context_too_long',
      false,
    ],
    [
      'compatible',
      error(400, { error: { message: 'm', type: 'exceed_context_size_error', code: 400 } }),
      'context_too_long',
      false,
    ],
    [
      'chat',
      error(429, { error: { message: 'm', type: 'insufficient_quota', code: 'insufficient_quota' } }),
      'rate_limited',
      false,
    ],
    ['chat', error(503, { error: { message: 'm' } }, { 'x-should-retry': 'false' }), 'server', false],
    ['chat', sse({ error: { message: 'm', type: 'server_error' } }), 'server', true],
    ['compatible', sse(chunk({ content: 'a' }), { error: { message: 'm', code: 429 } }), 'rate_limited', true],
    ['anthropic', sse({ type: 'error', error: { type: 'overloaded_error', message: 'm' } }), 'server', true],
    ['compatible', { status: 502, body: '<html>Bad gateway</html>' }, 'server', true],
    ['compatible', { body: '<html>Please log in</html>' }, 'network', true],
    ['compatible', sse('data: {"id":"x","choices":[{"del\n\n', chunk({ content: 'a' }, 'stop')), 'malformed', true],
  ] as const)('%s: a structured error is understood (%#)', async (wire, step, code, retryable) => {
    const { model } = await scripted(wire, [step]);
    expect(failureOf(await ask(model))).toMatchObject({ code, retryable });
  });

  test('a plain 400 for a request as long as the window is a context that is too long', async () => {
    const { model } = await scripted(
      'anthropic',
      [error(400, { type: 'error', error: { type: 'invalid_request_error', message: 'no' } })],
      { contextWindow: 1000 },
    );
    expect(failureOf(await ask(model)).code).toBe('invalid_request');
    expect(failureOf(await ask(model, requestOf([{ role: 'user', text: 'x'.repeat(4000) }]))).code).toBe(
      'context_too_long',
    );
  });

  test('where nobody said how large the window is, a plain 400 for a conversation that was answered until it grew is taken for it', async () => {
    const no = error(400, { error: { message: 'no' } });
    const { model } = await scripted('compatible', [no, FINE, no, no, no]);
    const of = (length: number) => requestOf([{ role: 'user', text: 'x'.repeat(length) }]);
    expect(failureOf(await ask(model, of(40_000))).code).toBe('invalid_request');
    answerOf(await ask(model, of(30_000)));
    const codes = [];
    for (const length of [40_000, 30_000, 100]) codes.push(failureOf(await ask(model, of(length))).code);
    expect(codes).toEqual(['context_too_long', 'invalid_request', 'invalid_request']);
  });

  test('a window that is known is believed: below it, a plain 400 has another reason', async () => {
    const { model } = await scripted('chat', [FINE, error(400, { error: { message: 'no' } })]);
    await ask(model);
    expect(failureOf(await ask(model, requestOf([{ role: 'user', text: 'x'.repeat(40_000) }]))).code).toBe(
      'invalid_request',
    );
  });

  test('a message that quotes the key comes without it', async () => {
    const key = ['value', process.pid, 'of-a-test'].join('-');
    const { server } = await scripted('compatible', [
      error(401, { error: { message: `wrong key ${key} ${'y'.repeat(2000)}` } }),
    ]);
    const model = await openModel(modelPolicy({ baseUrl: `${server.url}/v1`, apiKeyEnv: 'A_KEY' }), { A_KEY: key });
    const { message } = failureOf(await ask(model));
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(message).toContain('wrong key [A_KEY] yyy');
    expect(message.length).toBeLessThan(600);
  });
});
