import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Message } from '../../src/model/index.ts';
import { answerOf, ask, requestOf, resultsFor, scripted, type WireName } from './fixtures.ts';
import { chat, chatCall, sse } from './scripted-server.ts';

const GOAL: Message = { role: 'user', text: 'go' };
const turn = (n: number, input = `{"command": "echo ${n}"}`): Message[] => [
  {
    role: 'assistant',
    parts: [
      { type: 'text', text: `Step ${n}.` },
      { type: 'tool_call', id: `call_${n}`, name: 'shell', input },
    ],
  },
  { role: 'tool', results: [{ callId: `call_${n}`, name: 'shell', text: `out ${n}`, isError: false }] },
];

/** The body that a wire makes of the messages. What the server answers does not matter. */
async function bodyOf(wire: WireName, messages: readonly Message[]): Promise<Record<string, unknown>> {
  const { model, server } = await scripted(wire, [chat([])]);
  await ask(model, requestOf(messages));
  return server.requests[0]?.body ?? {};
}

describe('input that is no JSON object', () => {
  const broken = turn(1, '{"command": "touch cut');
  test.each([
    [
      'anthropic',
      {
        messages: [{}, { content: [{}, { type: 'tool_use', input: { INVALID_JSON: '{"command": "touch cut' } }] }, {}],
      },
    ],
    [
      'google',
      { contents: [{}, { parts: [{}, { functionCall: { args: { INVALID_JSON: '{"command": "touch cut' } } }] }, {}] },
    ],
    [
      'compatible',
      {
        messages: [
          {},
          {},
          { tool_calls: [{ function: { arguments: '{"INVALID_JSON":"{\\"command\\": \\"touch cut"}' } }] },
          {},
        ],
      },
    ],
    [
      'responses',
      {
        input: [
          {},
          {},
          {},
          { type: 'function_call', arguments: '{"INVALID_JSON":"{\\"command\\": \\"touch cut"}' },
          {},
        ],
      },
    ],
  ] as const)('goes back as an object on the %s wire', async (wire, expected) => {
    expect(await bodyOf(wire, [GOAL, ...broken])).toMatchObject(expected);
  });

  test('a call cut at the output limit is no part of the answer', async () => {
    const { model } = await scripted('compatible', [
      chat(
        [
          { content: 'I will ' },
          ...chatCall('shell', '{"command":"a"}', 0),
          ...chatCall('shell', '{"command": "touch c', 1),
        ],
        'length',
      ),
    ]);
    expect(answerOf(await ask(model))).toMatchObject({
      finish: 'length',
      parts: [
        { type: 'text', text: 'I will ' },
        { type: 'tool_call', id: 'call_0', input: '{"command":"a"}' },
      ],
    });
  });
});

describe('what a wire would refuse is mended', () => {
  test('names, ids, empty texts, empty results, calls without result and results without call', async () => {
    const body = await bodyOf('anthropic', [
      GOAL,
      { role: 'assistant', parts: [] },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: ' ' },
          { type: 'tool_call', id: 'a:1', name: 'make coffee', input: '{}' },
          { type: 'tool_call', id: 'b', name: '', input: '{}' },
        ],
      },
      { role: 'tool', results: [{ callId: 'a:1', name: 'make coffee', text: '', isError: true }] },
      { role: 'tool', results: [{ callId: 'nobody', name: 'x', text: 'lost', isError: false }] },
    ]);
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a_1', name: 'make_coffee' },
          { type: 'tool_use', id: 'b', name: 'unnamed' },
        ],
      },
      {
        role: 'user',
        content: [
          { tool_use_id: 'a_1', content: '(no output)', is_error: true },
          { tool_use_id: 'b', content: 'This call was not run.', is_error: true },
        ],
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('lost');
  });

  test('ids that a server uses again are told apart', async () => {
    const { model, server } = await scripted('compatible', [
      chat(
        [...chatCall('shell', '{"command":"a"}', 0, 'call_0'), ...chatCall('shell', '{"command":"b"}', 1, 'call_0')],
        'tool_calls',
      ),
    ]);
    const first = await ask(model, requestOf([GOAL]));
    const thread = [GOAL, ...resultsFor(first)];
    const second = await ask(model, requestOf(thread));
    await ask(model, requestOf([...thread, ...resultsFor(second)]));
    const sent = z
      .object({ messages: z.array(z.object({ tool_call_id: z.string().optional() })) })
      .parse(server.requests[2]?.body);
    const ids = sent.messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(4);
  });

  test.each(['anthropic', 'compatible'] as const)(
    'whatever the thread, every call sent on the %s wire has exactly one result',
    async (wire) => {
      const { model, server } = await scripted(wire, [chat([])]);
      const id = fc.constantFrom('c1', 'c2', 'c3');
      const part = fc.oneof(
        id.map((callId) => ({ type: 'tool_call' as const, id: callId, name: 'shell', input: '{}' })),
        fc.string().map((text) => ({ type: 'text' as const, text })),
        fc.constant({ type: 'reasoning' as const, text: 'Hm.' }),
      );
      const message: fc.Arbitrary<Message> = fc.oneof(
        fc.constant<Message>(GOAL),
        fc
          .uniqueArray(part, { maxLength: 4, selector: (one) => ('id' in one ? one.id : one) })
          .map((parts): Message => ({ role: 'assistant', parts })),
        fc.array(id, { maxLength: 3 }).map(
          (ids): Message => ({
            role: 'tool',
            results: ids.map((callId) => ({ callId, name: 'shell', text: 'r', isError: false })),
          }),
        ),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(message, { maxLength: 8 }), async (messages) => {
          await ask(model, requestOf([GOAL, ...messages]));
          const raw = server.requests.at(-1)?.raw ?? '';
          const calls = [...raw.matchAll(/"id":"(c\d)"/g)].map(([, callId]) => callId);
          const results = [...raw.matchAll(/"tool_(?:use|call)_id":"(c\d)"/g)].map(([, callId]) => callId);
          expect(results).toEqual(calls);
        }),
        { numRuns: 40 },
      );
    },
  );
});

describe('prefixes', () => {
  const steps = Array.from({ length: 5 }, (_, n) => turn(n));
  test.each([
    ['compatible', 'messages'],
    ['chat', 'messages'],
    ['responses', 'input'],
    ['google', 'contents'],
  ] as const)('a longer thread begins with the bytes of the shorter one (%s)', async (wire, key) => {
    const bodies = await Promise.all([2, 5].map((n) => bodyOf(wire, [GOAL, ...steps.slice(0, n).flat()])));
    const [short = '', long = ''] = bodies.map((body) => JSON.stringify(body[key]).slice(0, -1));
    expect(long.startsWith(short)).toBe(true);
    expect(JSON.stringify(bodies[0]?.['tools'])).toBe(JSON.stringify(bodies[1]?.['tools']));
  });

  test('Anthropic gets three cache breakpoints that move on, and nothing else changes', async () => {
    const [short, long] = await Promise.all(
      [2, 5].map((n) => bodyOf('anthropic', [GOAL, ...steps.slice(0, n).flat()])),
    );
    const bare = (body: unknown): string =>
      JSON.stringify(body).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const count = (body: unknown): number => JSON.stringify(body).split('"cache_control"').length - 1;
    expect([count(short), count(long)]).toEqual([3, 3]);
    expect(bare(long?.['messages']).startsWith(bare(short?.['messages']).slice(0, -1))).toBe(true);
    expect(long).toMatchObject({ system: [{ cache_control: { type: 'ephemeral' } }], max_tokens: 20_000 });
    expect(JSON.stringify(long)).not.toContain('eager_input_streaming');
  });
});

describe('how an answer ends', () => {
  test.each([
    ['compatible', chat([{ content: 'a' }], 'stop'), 'stop'],
    ['compatible', chat([{ content: 'a' }], 'length'), 'length'],
    ['compatible', chat([{ content: 'a' }], 'content_filter'), 'content_filter'],
    ['compatible', chat([{ refusal: 'no' }], 'stop'), 'refusal'],
    ['chat', chat([{ refusal: 'no' }], 'stop'), 'refusal'],
    ['compatible', chat(chatCall('shell', '{}'), 'eos'), 'tool_calls'],
    ['compatible', chat(chatCall('shell', ''), 'stop'), 'tool_calls'],
    [
      'google',
      sse({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'SAFETY' }] }),
      'content_filter',
    ],
    ['google', sse({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }), 'content_filter'],
  ] as const)('%s (%#): %s', async (wire, step, finish) => {
    const { model } = await scripted(wire, [step]);
    expect(answerOf(await ask(model)).finish).toBe(finish);
  });
});
