import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { chat, chatCall, type ScriptedServer, startScriptedServer } from '../model/scripted-server.ts';
import { type Bench, commitAll, createBench } from '../scenario.ts';
import { outcomesOf, runBatch } from './batch-run.ts';

let bench: Bench;
let server: ScriptedServer;
afterEach(async () => {
  await server.close();
  bench.remove();
});

const call = (name: string, input: object) => chat(chatCall(name, JSON.stringify(input)), 'tool_calls');
const failure = (status: number) => ({ status, body: JSON.stringify({ error: { message: 'no' } }) });
const repaired = [
  call('shell', { command: 'echo good > a.txt' }),
  call('finish', { status: 'done', summary: 'mended' }),
];

/** Jobs of a batch against a model server that gives its answers in this order: one run at a time. */
async function runAgainst(steps: Parameters<typeof startScriptedServer>[0], ids: readonly string[], args: string[]) {
  server = await startScriptedServer(steps);
  bench = createBench({
    'belay.yml': JSON.stringify({
      version: 1,
      model: { provider: 'openai-compatible', name: 'm', base_url: `${server.url}/v1`, retries: 0 },
      limits: { attempts: 1 },
      verify: { checks: [{ name: 'good', run: 'grep -q good a.txt' }] },
    }),
    'a.txt': 'bad\n',
  });
  commitAll(bench);
  const file = join(bench.io, 'jobs.jsonl');
  writeFileSync(file, ids.map((id) => `${JSON.stringify({ id, goal: `do ${id}` })}\n`).join(''));
  return runBatch([file, '--concurrency', '1', ...args], bench);
}

describe('a job of a batch is done again', () => {
  it('only where its model failed in a way that may pass: at the end of the queue, with what both runs took', async () => {
    const gaveUp = call('finish', { status: 'cannot', summary: 'I cannot' });
    const unchanged = call('finish', { status: 'done', summary: 'nothing to do' });
    const steps = [failure(503), failure(400), gaveUp, unchanged, ...repaired];
    const end = await runAgainst(steps, ['overloaded', 'refused', 'gives-up', 'stays-red'], []);
    expect(outcomesOf(end)).toEqual({
      refused: 'model_failed',
      'gives-up': 'gave_up',
      'stays-red': 'unverified',
      overloaded: 'verified',
    });
    expect(end.jobs.map(({ job_id, runs }) => [job_id, runs?.map(({ outcome }) => outcome)])).toEqual([
      ['refused', ['model_failed']],
      ['gives-up', ['gave_up']],
      ['stays-red', ['unverified']],
      ['overloaded', ['model_failed', 'verified']],
    ]);
    expect(end.completed).toMatchObject({ jobs: 4, measures: { runs: 5, verified: 1, cost: { retries: 1.25 } } });
    expect([end.code, server.requests.length]).toEqual([20, 6]);
  });

  it('as often as --retries says, and is then the failure that it is', async () => {
    const end = await runAgainst([failure(503)], ['one'], ['--retries', '2']);
    expect([outcomesOf(end), end.jobs[0]?.runs?.length, server.requests.length]).toEqual([
      { one: 'model_failed' },
      3,
      3,
    ]);
    const never = await runBatch([join(bench.io, 'jobs.jsonl'), '--retries', '0'], bench);
    expect([never.jobs[0]?.runs?.length, never.code]).toEqual([1, 20]);
  });
});
