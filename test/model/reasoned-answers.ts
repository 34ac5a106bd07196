import * as z from 'zod';
import type { WireName } from './fixtures.ts';
import { anthropicStart, chat, chatCall, type Step, sse } from './scripted-server.ts';

const SHELL = '{"command":"ls"}';

/** An answer that reasons, signed where the wire signs, and then calls twice. */
export const ANSWERS: Readonly<Record<Exclude<WireName, 'chat'>, (i: number) => Step>> = {
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
    return sse(
      anthropicStart({ input_tokens: 40, output_tokens: 1 }),
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
export function saidBy(body: unknown): string[] {
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

/** What stands in each thing that the model said, where its reasoning went back with it. */
export const SIGNED = {
  responses: 'opaque_',
  anthropic: 'sig_',
  google: 'thoughtSignature',
  compatible: 'Hm ',
} as const;
