import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createNoted, TOOLS } from '../context/histories.ts';
import { answerOf, ask, scripted, type WireName } from './fixtures.ts';
import { chat, chatCall, type Step, sse } from './scripted-server.ts';

const SHELL = '{"command":"ls"}';

/** An answer that reasons, signed where the wire signs, and then calls twice. */
const ANSWERS: Readonly<Record<Exclude<WireName, 'chat'>, (i: number) => Step>> = {
  responses(i) {
    const base = { id: `resp_${i}`, object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
    const reasoning = { id: `rs_${i}`, type: 'reasoning', summary: [], encrypted_content: `opaque_${i}` };
    const call = (k: number) => ({
      ...{ id: `fc_${i}_${k}`, type: 'function_call', call_id: `call_${i}_${k}`, name: 'shell', arguments: SHELL },
      status: 'completed',
    });
    const done = (item: object, output_index: number) => [
      { type: 'response.output_item.added', output_index, item: { ...item, encrypted_content: null } },
      { type: 'response.output_item.done', output_index, item },
    ];
    const usage = { input_tokens: 10, output_tokens: 5, output_tokens_details: { reasoning_tokens: 3 } };
    return sse({ type: 'response.created', response: base }, ...[reasoning, call(0), call(1)].flatMap(done), {
      type: 'response.completed',
      response: { ...base, status: 'completed', usage },
    });
  },
  anthropic(i) {
    const block = (index: number, content_block: unknown, ...deltas: unknown[]) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
    const call = (k: number) =>
      block(
        k + 2,
        { type: 'tool_use', id: `toolu_${i}_${k}`, name: 'shell', input: {} },
        { type: 'input_json_delta', partial_json: SHELL },
      );
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
    return sse(
      { type: 'message_start', message: { ...message, usage: { input_tokens: 40, output_tokens: 1 } } },
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: `Let me look ${i}.` },
        { type: 'signature_delta', signature: `sig_${i}` },
      ),
      ...block(1, { type: 'redacted_thinking', data: `hidden_${i}` }),
      ...call(0),
      ...call(1),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    );
  },
  google(i) {
    const part = (more: object) => ({ index: 0, content: { role: 'model', parts: [more] } });
    const call = { functionCall: { name: 'shell', args: { command: 'ls' } } };
    return sse(
      { candidates: [part({ text: `Hm ${i}.`, thought: true })] },
      { candidates: [part({ ...call, thoughtSignature: Buffer.from(`sig_${i}`).toString('base64') })] },
      {
        candidates: [{ ...part(call), finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 15 },
      },
    );
  },
  compatible: (i) =>
    chat(
      [
        { reasoning_content: `Hm ${i}.` },
        ...chatCall('shell', SHELL, 0, `call_${i}_0`),
        ...chatCall('shell', SHELL, 1, `call_${i}_1`),
      ],
      'tool_calls',
    ),
};

const Sent = z.record(z.string(), z.unknown());
const Body = z.object({
  messages: z.array(Sent).optional(),
  contents: z.array(Sent).optional(),
  input: z.array(Sent).optional(),
});

/** What a request says that the model said, message by message; for Responses its items by the reasoning that leads them. */
function saidBy(body: unknown): string[] {
  const { messages, contents, input } = Body.parse(body);
  const texts = (input ?? messages ?? contents ?? []).filter(
    (one) =>
      one['role'] === 'assistant' ||
      one['role'] === 'model' ||
      one['type'] === 'reasoning' ||
      one['type'] === 'function_call',
  );
  if (input === undefined) return texts.map((one) => JSON.stringify(one));
  const groups: string[][] = [];
  for (const one of texts) {
    if (one['type'] === 'reasoning') groups.push([]);
    // A call that no reasoning leads stands alone, and is then no turn of the other request.
    (groups.at(-1) ?? groups[groups.push([]) - 1])?.push(JSON.stringify(one));
  }
  return groups.map((group) => group.join('\n'));
}

const TURNS = 5;

describe.each(Object.entries(ANSWERS))('reasoning over a long run (%s)', (name, answer) => {
  const wire = name as keyof typeof ANSWERS;

  test('goes back whole or not at all: with old results left out, after a summary, and from a resumed thread', async () => {
    const steps = Array.from({ length: TURNS + 4 }, (_, i) => answer(i));
    const { model, server } = await scripted(wire, steps, wire === 'compatible' ? {} : { reasoningEffort: 'medium' });
    const notes: string[] = [];
    const transcript = createNoted(null, notes);
    await transcript.addUser('goal', 'goal');
    const sent = async (of = transcript) => {
      await ask(model, { ...of.request(), tools: TOOLS });
      return server.requests.at(-1);
    };
    for (let i = 0; i < TURNS; i++) {
      const given = answerOf(await ask(model, transcript.request()));
      const { parts } = given;
      await transcript.addAnswer(given, { attempt: 1, costUsd: null });
      const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
      expect(calls).toHaveLength(2);
      await transcript.addResults(
        calls.map(({ id }) => ({ callId: id, name: 'shell', text: `result ${id}`, isError: false })),
      );
    }
    const whole = saidBy((await sent())?.body);
    expect(whole).toHaveLength(TURNS);
    const signed = { responses: 'opaque_', anthropic: 'sig_', google: 'thoughtSignature', compatible: 'Hm ' }[wire];
    expect(whole.filter((text) => !text.includes(signed))).toEqual([]);

    const old = transcript.messages.slice(0, 5).flatMap((message) => (message.role === 'tool' ? message.results : []));
    const results = old.map(({ callId }) => ({ callId, text: '[left out]' }));
    await transcript.compact({ kind: 'elide', results, standIn: null, windowTokens: null });
    const elided = await sent();
    expect(saidBy(elided?.body)).toEqual(whole);
    expect(elided?.raw.match(/left out/g)).toHaveLength(4);

    const standIn = { text: '# Where the work stands', summary: 'so', keptMessages: 4 };
    await transcript.compact({ kind: 'summarize', results: [], standIn, windowTokens: null });
    const summarized = await sent();
    expect(saidBy(summarized?.body)).toEqual(whole.slice(-2));
    expect(summarized?.raw).toContain('Where the work stands');

    const resumed = await sent(createNoted(null, [...notes]));
    expect(resumed?.raw).toBe(summarized?.raw);
  });
});
