import { expect, test } from 'vitest';
import { Event, type EventBody, type Item } from '../../src/events/index.ts';
import { CassetteAnswer, cassetteFromEvents, createReplayModel } from '../../src/model/index.ts';
import { answerOf, ask } from './fixtures.ts';

const SHA = 'a'.repeat(64);
const USAGE = {
  input_tokens: 10,
  cached_input_tokens: 4,
  output_tokens: 3,
  reasoning_tokens: 1,
  requests: 2,
  retries: 1,
};
const place = { turn: 1, phase: 'agent' as const };

function stream(...bodies: (EventBody & { cut?: Event['cut'] })[]): Event[] {
  return bodies.map((body, seq) =>
    Event.parse({ ...body, v: 1, seq, time: '2030-01-01T00:00:00.000Z', run_id: 'r', prev: '0'.repeat(64) }),
  );
}
const started = (turn = 1): EventBody => ({ type: 'turn.started', turn, attempt: 1, request_sha256: SHA });
const completed = (turn = 1): EventBody => ({
  type: 'turn.completed',
  turn,
  attempt: 1,
  usage: USAGE,
  total_usage: USAGE,
  cost_usd: null,
  duration_ms: 1,
  snapshot: null,
  changes: [],
});
const item = (
  type: 'item.started' | 'item.completed',
  given: Item,
  where: { turn: number | null; phase: 'agent' | 'verify' } = place,
): EventBody => ({ type, item: given, ...where });
const toolCall = (id: string, given: Partial<Extract<Item, { type: 'tool_call' }>> = {}): Item => ({
  id,
  type: 'tool_call',
  status: 'completed',
  summary: 's',
  tool: 'read_file',
  call_id: `call_${id}`,
  input: { path: id },
  ...given,
});

test('a turn is an answer, its calls in the order in which they began', async () => {
  const events = stream(
    started(),
    item('item.completed', { id: 'i0', type: 'reasoning', status: 'completed', text: 'hm' }),
    item('item.completed', { id: 'i1', type: 'agent_message', status: 'completed', text: 'I look.' }),
    item('item.started', toolCall('a', { status: 'in_progress' })),
    item('item.started', toolCall('b', { status: 'in_progress' })),
    item('item.completed', toolCall('b')),
    item('item.completed', toolCall('a')),
    item('item.completed', {
      id: 'c',
      type: 'denial',
      status: 'declined',
      action: 'git push',
      rule: 'r',
      reason: 'no',
      tool: 'shell',
      call_id: 'call_c',
      input: { command: 'git push' },
    }),
    item('item.completed', toolCall('d', { tool: 'shell', status: 'failed', input: '{"command": "cut' })),
    item(
      'item.completed',
      {
        id: 'v',
        type: 'command_execution',
        status: 'completed',
        command: 'x',
        aggregated_output: '',
        exit_code: 0,
        tool: 'shell',
        input: {},
      },
      { turn: null, phase: 'verify' },
    ),
    completed(),
    started(2),
    item('item.completed', toolCall('e', { tool: 'finish', input: { status: 'done', summary: 'ok' } }), {
      turn: 2,
      phase: 'agent',
    }),
    completed(2),
  );
  const usage = { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3, reasoning_tokens: 1 };
  const answers = await cassetteFromEvents(events);
  expect(answers).toEqual([
    {
      request_sha256: SHA,
      reasoning: 'hm',
      text: 'I look.',
      tool_calls: [
        { id: 'call_a', name: 'read_file', input: { path: 'a' } },
        { id: 'call_b', name: 'read_file', input: { path: 'b' } },
        { id: 'call_c', name: 'shell', input: { command: 'git push' } },
        { id: 'call_d', name: 'shell', raw_arguments: '{"command": "cut' },
      ],
      usage,
    },
    {
      request_sha256: SHA,
      tool_calls: [{ id: 'call_e', name: 'finish', input: { status: 'done', summary: 'ok' } }],
      usage,
    },
  ]);
  expect(answers.map((answer) => CassetteAnswer.parse(answer))).toEqual(answers);

  const replayed = await createReplayModel({ cassette: answers, model: null });
  expect(answerOf(await ask(replayed)).parts.map((part) => part.type)).toEqual([
    'reasoning',
    'text',
    'tool_call',
    'tool_call',
    'tool_call',
    'tool_call',
  ]);
  expect(answerOf(await ask(replayed)).finish).toBe('tool_calls');
});

test('an interrupted turn is what is known of it, a failed one its final error', async () => {
  const failed = (code: string): EventBody => ({
    type: 'turn.failed',
    turn: 1,
    attempt: 1,
    usage: USAGE,
    total_usage: USAGE,
    duration_ms: 1,
    error: { code, message: 'm', retryable: code === 'server' },
  });
  expect(await cassetteFromEvents(stream(started(), item('item.started', toolCall('a'))))).toEqual([
    { request_sha256: SHA, tool_calls: [{ id: 'call_a', name: 'read_file', input: { path: 'a' } }] },
  ]);
  expect(await cassetteFromEvents(stream(started()))).toEqual([]);
  expect(await cassetteFromEvents(stream(started(), failed('auth')))).toEqual([
    { request_sha256: SHA, error: { http_status: 401, message: 'm' } },
  ]);
  expect(await cassetteFromEvents(stream(started(), failed('server')))).toEqual([]);
});

test('a call that the stream had to cut is refused', async () => {
  const events = stream(started(), {
    ...item('item.started', toolCall('a')),
    cut: [{ path: '/item/input/patch', omitted: 7 }],
  });
  await expect(cassetteFromEvents(events)).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringContaining('item a'),
  });
});
