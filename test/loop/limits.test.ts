import { describe, expect, it, onTestFinished } from 'vitest';
import { chat, chatCall, startScriptedServer } from '../model/scripted-server.ts';
import { type Bench, commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

const finish = { name: 'finish', input: { status: 'done', summary: 'done' } };
const list = (pattern: string) => ({ name: 'list_files', input: { pattern } });

function benchWith(policy: object): Bench {
  const bench = createBench({ 'a.txt': 'bad\n', 'belay.yml': JSON.stringify({ version: 1, ...policy }) });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  return bench;
}

// Side by side: one of them waits for its deadline.
describe.concurrent('limits', () => {
  it('are told once each, when four fifths are used', async () => {
    const bench = benchWith({
      model: { provider: 'replay', name: 'm', price: { input: 1, cached_input: 1, output: 1 } },
      limits: { turns: 10, tool_calls: 10, tokens: 100_000, cost_usd: 0.1 },
      verify: { checks: [] },
    });
    const big = { input_tokens: 100, output_tokens: 12_000 };
    const answers = [
      { tool_calls: [list('a'), list('b')], usage: big },
      ...['c', 'd', 'e', 'f', 'g', 'h'].map((pattern) => ({ tool_calls: [list(pattern)], usage: big })),
      { tool_calls: [list('i')], usage: { input_tokens: 100, output_tokens: 10 } },
      { tool_calls: [finish], usage: { input_tokens: 100, output_tokens: 10 } },
    ];
    const end = await runCli(['run', 'go', '--replay', writeCassette(bench, answers)], bench);
    expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    const seen = end.events.flatMap((event): unknown[] => {
      if (event.type === 'turn.completed') return [`turn ${event.turn}`];
      return event.type === 'limit.warned' ? [{ ...event, used: Number(event.used.toFixed(6)) }] : [];
    });
    const warned = (limit: string, used: number, max: number) => expect.objectContaining({ limit, used, max });
    expect(seen).toEqual([
      ...['turn 1', 'turn 2', 'turn 3', 'turn 4', 'turn 5', 'turn 6', 'turn 7'],
      warned('tokens', 84_700, 100_000),
      warned('tool_calls', 8, 10),
      warned('cost_usd', 0.0847, 0.1),
      'turn 8',
      warned('turns', 8, 10),
      'turn 9',
    ]);
  });

  it('of repeats end a run at the same call with the same result in a row, and the model is warned before', async () => {
    const calls = ['shell', 'shell', 'list_files', 'shell', 'shell', 'shell'];
    const server = await startScriptedServer(
      calls.map((name) => {
        const input = name === 'shell' ? { command: 'echo again' } : { pattern: '*' };
        return chat(chatCall(name, JSON.stringify(input)), 'tool_calls');
      }),
    );
    onTestFinished(() => server.close());
    const bench = benchWith({
      model: { provider: 'openai-compatible', name: 'm', base_url: `${server.url}/v1` },
      limits: { repeats: 3 },
      verify: { checks: [] },
    });
    const end = await runCli(['run', 'go'], bench);
    expect(end.result).toMatchObject({ exit_code: 11, outcome: 'limit_reached', ended_by: 'repeats' });
    expect(end.result?.reason).toBe('the limit repeats is reached: 3 of 3 used');
    const hint = 'the same call gave the same result 2 times in a row';
    expect(server.requests.map(({ raw }) => raw.split(hint).length - 1)).toEqual([0, 0, 1, 1, 1, 2]);
  });

  it('of wall time end an agent in the middle of a command, and its green tree is verified', async () => {
    // Slow while it is red, so that what the baseline reserves is plenty for the final round.
    const run = 'grep -q good a.txt || { sleep 2; false; }';
    const bench = benchWith({
      limits: { wall_time: '12s' },
      verify: {
        checks: [{ name: 'good', run, before: 'fail' }],
        clean_room: { pristine_tests: false },
      },
    });
    const answers = [
      { tool_calls: [{ name: 'shell', input: { command: 'echo good > a.txt; exec tail -f /dev/null' } }] },
      { tool_calls: [finish] },
    ];
    const end = await runCli(['run', 'go', '--replay', writeCassette(bench, answers)], bench);
    expect(end.result).toMatchObject({ exit_code: 0, outcome: 'verified', evidence: 'fixed', ended_by: 'wall_time' });
    expect(end.events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
    const command = end.events.find(
      (event) => event.type === 'item.completed' && event.item.type === 'command_execution',
    );
    expect(command).toMatchObject({ item: { status: 'cancelled' } });
    expect(end.events.filter((event) => event.type === 'limit.warned')).toMatchObject([
      { limit: 'wall_time_ms', max: 12_000 },
    ]);
    expect(bench.read('a.txt')).toBe('good\n');
  });

  it.each([
    {
      where: 'in setup',
      policy: { limits: { wall_time: '8s' }, setup: [{ run: 'sleep 60', retries: 3 }], verify: { checks: [] } },
    },
    {
      where: 'in a check',
      policy: {
        limits: { wall_time: '12s', attempts: 1 },
        verify: {
          checks: [{ name: 'slow', run: 'if grep -q done a.txt; then sleep 60; fi' }],
          flaky_retries: 0,
        },
      },
    },
  ])('of wall time that is reached $where is the limit that ended the run', async ({ policy }) => {
    const bench = benchWith(policy);
    const answers = [
      { tool_calls: [{ name: 'shell', input: { command: 'echo done > a.txt' } }] },
      { tool_calls: [finish] },
    ];
    const end = await runCli(['run', 'go', '--replay', writeCassette(bench, answers)], bench);
    expect({ code: end.code, ended: end.result?.ended_by }).toEqual({ code: 11, ended: 'wall_time' });
  });
});
