import { expect, it } from 'vitest';
import { commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

const nap = { tool_calls: [{ name: 'shell', input: { command: 'sleep 1' } }] };
const done = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };

it('ends by its wall time where earlier runs left too little for the final checks, and goes on with more of it', async () => {
  const verify = { checks: [{ name: 'slow', run: 'sleep 0.8' }] };
  const bench = createBench({ 'belay.yml': JSON.stringify({ version: 1, verify }) });
  commitAll(bench);
  const replay = ['--replay', writeCassette(bench, [nap, done])];
  const first = await runCli(['run', 'go', ...replay, '--turns', '1'], bench);
  expect(first.result).toMatchObject({ outcome: 'limit_reached', ended_by: 'turns' });
  const usedMs = first.result?.limits.wall_time_ms.used ?? 0;

  const resume = ['resume', first.result?.thread_id ?? '', ...replay, '--turns', '9', '--wall-time'];
  const short = await runCli([...resume, `${Math.ceil(usedMs) + 1500}ms`], bench);
  expect([short.code, short.result?.outcome, short.result?.ended_by]).toEqual([11, 'limit_reached', 'wall_time']);
  expect(short.result?.reason).toMatch(/wall_time .*\d s of \d+\.\d s used/);
  expect(short.result?.limits.turns.used).toBe(1);

  const long = await runCli([...resume, '5m'], bench);
  expect([long.code, long.result?.outcome]).toEqual([0, 'verified']);
  bench.remove();
}, 30_000);
