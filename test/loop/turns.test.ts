import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Item } from '../../src/events/index.ts';
import { chat, chatCall, type ScriptedServer, type Step, startScriptedServer } from '../model/scripted-server.ts';
import { type Bench, type CliEnd, commitAll, createBench, runCli } from '../scenario.ts';

type Call = readonly [name: string, input: object | string];

const answer = (...calls: readonly Call[]): Step =>
  chat(
    calls.flatMap(([name, input], i) =>
      chatCall(name, typeof input === 'string' ? input : JSON.stringify(input), i, `${name}_${i}`),
    ),
    'tool_calls',
  );
const shell = (command: string): Call => ['shell', { command }];
const FINISH: Call = ['finish', { status: 'done', summary: 'It is done.' }];
const LAST = 'This is your last answer.';

/** The tool calls in the order in which their items begin and end. */
function ordered({ events }: CliEnd): string[] {
  const nameOf = (item: Item) => ('call_id' in item ? (item.call_id ?? item.id) : item.id);
  return events.flatMap((event) => {
    if (event.type === 'item.started' && event.turn !== null) return [`+${nameOf(event.item)}`];
    if (event.type !== 'item.completed' || event.turn === null) return [];
    return event.item.type === 'agent_message' ? [] : [`-${nameOf(event.item)}`];
  });
}

describe('a run to its last allowed turn', () => {
  let bench: Bench;
  let server: ScriptedServer;
  let end: CliEnd;

  /** Reads on where the output before was cut, as its own text says. */
  const readOn: Step = (response) => {
    const [, id = '', offset = ''] =
      /read_output output_id=(\S+) offset=(\d+)/.exec(server.requests.at(-1)?.raw ?? '') ?? [];
    const step = answer(['read_output', { output_id: id, offset: Number(offset), limit: 400 }]);
    if (typeof step !== 'function') response.writeHead(200, step.headers).end(step.body);
  };

  beforeAll(async () => {
    server = await startScriptedServer([
      answer(
        ['read_file', { path: 'a.txt' }],
        ['list_files', { pattern: '*' }],
        ['search', { pattern: 'one' }],
        shell('echo first >> log.txt'),
        ['write_file', { path: 'b.txt', content: 'b\n' }],
        shell('cat b.txt >> log.txt'),
        ['read_file', { path: 'log.txt' }],
        shell('echo x && rm a.txt'),
        ['teleport', { to: 'the end' }],
        ['read_file', '{"path": 7}'],
      ),
      answer(shell('seq 1 5000')),
      readOn,
      answer(FINISH),
    ]);
    bench = createBench({ 'a.txt': 'one\n' });
    const policy = {
      version: 1,
      model: { provider: 'openai-compatible', name: 'm', base_url: `${server.url}/v1` },
      tools: { edit: 'replace_text' },
      limits: { turns: 4, output_bytes: 1024 },
      commands: { deny: ['rm'] },
      verify: { checks: [{ name: 'order', run: 'test "$(cat log.txt)" = "$(printf "first\\nb")" && test -f a.txt' }] },
    };
    bench.write('belay.yml', JSON.stringify(policy));
    commitAll(bench);
    end = await runCli(['run', 'go'], bench);
  });
  afterAll(async () => {
    await server.close();
    bench.remove();
  });

  it('tells the model with the last request, and only there, that it is the last', () => {
    expect({ code: end.code, requests: server.requests.length }).toEqual({ code: 0, requests: 4 });
    expect(server.requests.map(({ raw }) => raw.includes(LAST))).toEqual([false, false, false, true]);
    expect(server.requests[3]?.body['messages']).toEqual(
      expect.arrayContaining([{ role: 'user', content: expect.stringContaining(LAST) }]),
    );
  });

  it('makes neighbouring calls that only read side by side, and every other one alone, in the order of the model', () => {
    const calls = ordered(end).slice(0, 17);
    expect(calls.slice(0, 3)).toEqual(['+read_file_0', '+list_files_1', '+search_2']);
    expect(calls.slice(3, 6).toSorted()).toEqual(['-list_files_1', '-read_file_0', '-search_2']);
    expect(calls.slice(6)).toEqual([
      ...['+shell_3', '-shell_3', '+write_file_4', '-write_file_4', '+shell_5', '-shell_5'],
      ...['+read_file_6', '-read_file_6', '-shell_7', '-teleport_8', '-read_file_9'],
    ]);
    const results = server.requests[1]?.body['messages'];
    const ids = Array.isArray(results)
      ? results.map(({ tool_call_id: id }) => id).filter((id) => id !== undefined)
      : [];
    expect(ids).toEqual(
      [
        'read_file',
        'list_files',
        'search',
        'shell',
        'write_file',
        'shell',
        'read_file',
        'shell',
        'teleport',
        'read_file',
      ].map((name, i) => `${name}_${i}`),
    );
  });

  it('answers what is denied, unknown or malformed, keeps it in the stream and the denial in the result', () => {
    const items = end.events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []));
    const itemOf = (id: string) => items.find((item) => 'call_id' in item && item.call_id === id);
    expect(itemOf('shell_7')).toMatchObject({ type: 'denial', status: 'declined', rule: 'commands.deny: rm' });
    expect(itemOf('teleport_8')).toMatchObject({
      type: 'tool_call',
      status: 'failed',
      error: expect.stringMatching(/teleport/),
    });
    expect(itemOf('read_file_9')).toMatchObject({
      type: 'tool_call',
      status: 'failed',
      error: expect.stringMatching(/path/),
    });
    expect(end.result?.denials).toEqual([
      expect.objectContaining({ action: 'echo x && rm a.txt', rule: 'commands.deny: rm' }),
    ]);
    const told = server.requests[1]?.raw ?? '';
    expect(told).toContain('denied by the policy (commands.deny: rm)');
  });

  it('gives the model the middle of an output that was cut', () => {
    const items = end.events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []));
    const cut = items.find((item) => item.type === 'command_execution' && item.command === 'seq 1 5000');
    const read = items.find((item) => item.type === 'tool_call' && item.tool === 'read_output');
    if (cut?.type !== 'command_execution' || read?.type !== 'tool_call') throw new Error('not run');
    const whole = `${Array.from({ length: 5000 }, (_, i) => i + 1).join('\n')}\n`;
    const from = cut.omission?.omitted_from ?? -1;
    expect(cut.aggregated_output).not.toContain(whole.slice(from, from + 400));
    expect(read).toMatchObject({ status: 'completed', output: expect.stringContaining(whole.slice(from, from + 400)) });
    expect(server.requests[3]?.raw).toContain(JSON.stringify(whole.slice(from, from + 400)).slice(1, -1));
  });
});
