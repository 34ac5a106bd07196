import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Event, readEvents } from '../../src/events/index.ts';
import { auditEvents } from '../../src/thread/index.ts';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const POLICY = 'version: 1\nverify: {checks: []}\n';
const SLEEP = { tool_calls: [{ name: 'shell', input: { command: 'echo up > up.txt; sleep 300' } }] };
const FINISH = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
let bench: Bench;

function layOut(answers: readonly object[]): { cassette: string; events: string } {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
  commitAll(bench);
  const cassette = writeCassette(bench, answers);
  return { cassette, events: join(bench.io, 'events.jsonl') };
}
afterEach(() => bench.remove());

/** Starts a run and resolves once its stream shows an event of the type. */
function startUntil(args: readonly string[], type: string) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: bench.ws,
    env: bench.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  const seen = new Promise<void>((resolve) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes(`{"type":"${type}"`)) resolve();
    });
  });
  return { child, ended, seen };
}

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s ends the run with %i, a terminal event, closed items and the tree as it was',
    async (signal, code) => {
      const { cassette, events } = layOut([SLEEP, FINISH]);
      const before = treeOf(bench.ws);
      const run = startUntil(['run', 'go', '--replay', cassette, '--events', events], 'item.started');
      await run.seen;
      run.child.kill(signal);
      expect(await run.ended).toBe(code);
      const report = await auditEvents(readEvents(events));
      expect(report).toMatchObject({ ok: true, outcome: 'interrupted' });
      expect(treeOf(bench.ws)).toEqual(before);
    },
  );

  it('ends a run whose reader has stopped reading', async () => {
    const loud = {
      tool_calls: [{ name: 'shell', input: { command: 'head -c 12000 /dev/zero | tr "\\0" x; echo "$RANDOM"' } }],
    };
    const { cassette, events } = layOut([...Array.from({ length: 60 }, () => loud), FINISH]);
    const child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette, '--events', events], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
    // Nobody reads stdout: the pipe fills, the run waits; the event file shows when it has come to a stand.
    let size = -1;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const now = existsSync(events) ? readFileSync(events).length : 0;
      if (now === size && now > 0) break;
      size = now;
    }
    child.kill('SIGTERM');
    expect([143, 141]).toContain(await ended);
    const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
    expect(Event.parse(JSON.parse(lines.at(-1) ?? '')).type).toBe('run.completed');
  });
});

describe('two runs on one workspace', () => {
  it('do not meet: the second is busy, and nothing of it ran', async () => {
    const { cassette } = layOut([SLEEP, FINISH]);
    const first = startUntil(['run', 'go', '--replay', cassette], 'item.started');
    await first.seen;
    const second = await runCli(['run', 'go', '--replay', cassette], bench);
    expect({ code: second.code, outcome: second.result?.outcome, turns: second.result?.limits.turns.used }).toEqual({
      code: 23,
      outcome: 'busy',
      turns: 0,
    });
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(143);
    const third = await runCli(
      ['run', 'go', '--replay', join(bench.io, 'model.jsonl'), '--turns', '1', '--wall-time', '5s'],
      bench,
    );
    expect(third.result?.outcome).toBe('limit_reached');
  });
});
