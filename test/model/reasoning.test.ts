import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/model/index.ts';
import { answerOf, ask, requestOf, resultsFor, scripted } from './fixtures.ts';
import { anthropicStart, chat, chatCall, type Step, sse } from './scripted-server.ts';

const GOAL: Message = { role: 'user', text: 'go' };

function responses(...output: Record<string, unknown>[]): Step {
  const base = { id: 'resp', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
  const items = output.flatMap((item, output_index) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: {
        ...item,
        ...(item['type'] === 'reasoning' ? { summary: [], encrypted_content: null } : {}),
        ...(item['type'] === 'function_call' ? { arguments: '' } : {}),
      },
    },
    ...(item['type'] === 'reasoning'
      ? []
      : [
          {
            type: 'response.function_call_arguments.delta',
            item_id: item['id'],
            output_index,
            delta: item['arguments'],
          },
        ]),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const usage = { input_tokens: 10, output_tokens: 5, output_tokens_details: { reasoning_tokens: 3 } };
  return sse({ type: 'response.created', response: base }, ...items, {
    type: 'response.completed',
    response: { ...base, status: 'completed', usage },
  });
}

describe('reasoning goes back with the call that it led to', () => {
  test('OpenAI: encrypted content, also where there is no summary', async () => {
    const { model, server } = await scripted(
      'responses',
      [
        responses(
          { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'opaque' },
          {
            id: 'fc_1',
            type: 'function_call',
            call_id: 'call_1',
            name: 'shell',
            arguments: '{"command": "ls"}',
            status: 'completed',
          },
        ),
      ],
      { reasoningEffort: 'high' },
    );

    const first = await ask(model, requestOf([GOAL]));
    expect(answerOf(first).parts).toEqual([
      { type: 'reasoning', text: '', state: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'opaque' } } },
      {
        type: 'tool_call',
        id: 'call_1',
        name: 'shell',
        input: '{"command": "ls"}',
        state: { openai: { itemId: 'fc_1' } },
      },
    ]);
    expect(answerOf(first).usage.reasoning_tokens).toBe(3);
    await ask(model, requestOf([GOAL, ...resultsFor(first)]));

    expect(server.requests[1]?.body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'thread_1',
      reasoning: { effort: 'high', summary: 'auto' },
      input: [
        { role: 'developer' },
        { role: 'user' },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'opaque', summary: [] },
        { type: 'function_call', call_id: 'call_1', arguments: '{"command": "ls"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'result' },
      ],
    });
  });

  test('Anthropic: signed and redacted thinking, byte for byte', async () => {
    const block = (index: number, start: unknown, ...deltas: unknown[]) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
    const { model, server } = await scripted(
      'anthropic',
      [
        sse(
          anthropicStart({
            input_tokens: 40,
            cache_read_input_tokens: 60,
            cache_creation_input_tokens: 0,
            output_tokens: 1,
          }),
          { type: 'ping' },
          ...block(
            0,
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking: 'Let me ' },
            { type: 'thinking_delta', thinking: 'look.' },
            { type: 'signature_delta', signature: 'sig' },
          ),
          ...block(1, { type: 'redacted_thinking', data: 'hidden' }),
          ...block(
            2,
            { type: 'tool_use', id: 'toolu_1', name: 'shell', input: {} },
            { type: 'input_json_delta', partial_json: '{"command":"ls"}' },
          ),
          {
            type: 'message_delta',
            delta: { stop_reason: 'tool_use', stop_sequence: null },
            usage: { output_tokens: 9 },
          },
          { type: 'message_stop' },
        ),
      ],
      { reasoningEffort: 'medium' },
    );

    const first = await ask(model, requestOf([GOAL]));
    expect(answerOf(first).usage).toEqual({
      input_tokens: 100,
      cached_input_tokens: 60,
      output_tokens: 9,
      reasoning_tokens: 0,
      requests: 1,
      retries: 0,
    });
    await ask(model, requestOf([GOAL, ...resultsFor(first)]));

    expect(server.requests[1]?.body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 10_000 },
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Let me look.', signature: 'sig' },
            { type: 'redacted_thinking', data: 'hidden' },
            { type: 'tool_use', id: 'toolu_1', name: 'shell', input: { command: 'ls' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'result' }] },
      ],
    });
  });

  test('Google: thought signatures', async () => {
    const { model, server } = await scripted(
      'google',
      [
        sse(
          { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] } }] },
          {
            candidates: [
              {
                index: 0,
                content: {
                  role: 'model',
                  parts: [{ functionCall: { name: 'shell', args: { command: 'ls' } }, thoughtSignature: 'c2ln' }],
                },
                finishReason: 'STOP',
              },
            ],
            usageMetadata: {
              promptTokenCount: 10,
              candidatesTokenCount: 2,
              thoughtsTokenCount: 3,
              totalTokenCount: 15,
            },
          },
        ),
      ],
      { reasoningEffort: 'low' },
    );

    const first = await ask(model, requestOf([GOAL]));
    expect(answerOf(first)).toMatchObject({ finish: 'tool_calls', usage: { output_tokens: 5, reasoning_tokens: 3 } });
    await ask(model, requestOf([GOAL, ...resultsFor(first)]));

    expect(server.requests[1]?.body).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingBudget: 4096, includeThoughts: true } },
      contents: [
        { role: 'user' },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true },
            { functionCall: { name: 'shell', args: { command: 'ls' } }, thoughtSignature: 'c2ln' },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'shell', response: { content: 'result' } } }] },
      ],
    });
  });

  test('openai-compatible: reasoning_content', async () => {
    const { model, server } = await scripted('compatible', [
      chat(
        [{ reasoning_content: 'Hm' }, { reasoning_content: '.' }, ...chatCall('shell', '{"command":"ls"}')],
        'tool_calls',
      ),
    ]);

    const first = await ask(model, requestOf([GOAL]));
    await ask(model, requestOf([GOAL, ...resultsFor(first)]));

    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        { role: 'system' },
        { role: 'user' },
        { role: 'assistant', reasoning_content: 'Hm.', tool_calls: [{ id: 'call_0' }] },
        { role: 'tool' },
      ],
      stream_options: { include_usage: true },
    });
  });

  test('reasoning that nothing follows stays at home', async () => {
    const { model, server } = await scripted('compatible', [chat([{ content: 'ok' }])]);
    await ask(
      model,
      requestOf([
        GOAL,
        { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm.' }] },
        { role: 'user', text: 'Say something.' },
      ]),
    );
    expect(server.requests[0]?.body['messages']).toEqual([
      { role: 'system', content: 'Be good.' },
      { role: 'user', content: 'go' },
      { role: 'user', content: 'Say something.' },
    ]);
  });
});
