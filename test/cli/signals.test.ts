import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
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
    ['SIGUSR1', 143],
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

  it('to the whole process group ends the run as one to belay alone: the git that puts the workspace back is not hit', async () => {
    const { cassette, events } = layOut([{ tool_calls: [{ name: 'shell', input: { command: 'echo up > up.txt' } }] }]);
    const before = treeOf(bench.ws);
    const [git = ''] = execFileSync('which', ['git'], { encoding: 'utf8' }).split('\n');
    const bin = join(bench.root, 'bin');
    mkdirSync(bin);
    // As a Ctrl-C that comes while git is at work: it goes to all of belay's group, and each time to a git that has not left it yet.
    const script = `#!/bin/sh\nif [ -e '${bench.ws}/up.txt' ]; then kill -s INT -- "-$(cut -d ' ' -f 5 /proc/$PPID/stat)"; sleep 0.1; echo >> '${bench.io}/hits'; [ $(( $(wc -l < '${bench.io}/hits') % 2 )) = 0 ] || kill -s INT $$; fi\nexec '${git}' "$@"\n`;
    writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
    const child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette, '--events', events], {
      cwd: bench.ws,
      env: { ...bench.env, PATH: `${bin}:${process.env['PATH']}` },
      stdio: 'ignore',
      detached: true,
    });
    expect(await new Promise((resolve) => child.on('close', (code) => resolve(code)))).toBe(130);
    expect(await auditEvents(readEvents(events))).toMatchObject({ ok: true, outcome: 'interrupted' });
    expect(treeOf(bench.ws)).toEqual(before);
  });

  it('ends a run whose goal is still being read, with its start and its end', async () => {
    const { cassette, events } = layOut([FINISH]);
    const pipe = join(bench.io, 'goal');
    execFileSync('mkfifo', [pipe]);
    const child = spawn(process.execPath, [CLI, 'run', '--goal-file', pipe, '--replay', cassette, '--events', events], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = new Promise<unknown>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)));
    // Opens once belay has the other end, which then waits for the goal.
    const goal = await open(pipe, 'w');
    child.kill('SIGTERM');
    expect(['SIGTERM', 143]).toContain(await ended);
    await goal.close();
    const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
    const [first, last] = lines.map((line) => Event.parse(JSON.parse(line)));
    expect({ lines: lines.length, first: first?.type, last }).toMatchObject({
      lines: 2,
      first: 'run.started',
      last: { type: 'run.completed', result: { outcome: 'interrupted', exit_code: 143 } },
    });
  });

  it.each([
    ['run', 0],
    ['verify', 10],
  ] as const)(
    'that comes after the verdict of belay %s leaves its exit code %i, and no folder',
    async (command, code) => {
      const { cassette } = layOut([FINISH]);
      const temp = join(bench.io, 'temp');
      mkdirSync(temp);
      const patch = join(bench.io, 'b.patch');
      writeFileSync(patch, '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n');
      writeFileSync(join(bench.io, 'red.yml'), 'version: 1\nverify: {checks: [{name: red, run: "false"}]}\n');
      const words = {
        run: ['run', 'go', '--replay', cassette],
        verify: ['verify', '--patch', patch, '--base', 'HEAD', '--policy', join(bench.io, 'red.yml')],
      }[command];
      const hook = join(import.meta.dirname, 'signal-at-exit-hook.cjs');
      const end = await runCli(words, bench, { env: { TMPDIR: temp, NODE_OPTIONS: `--require ${hook}` } });
      expect({ code: end.code, signal: end.signal, said: end.result?.exit_code, left: readdirSync(temp) }).toEqual({
        code,
        signal: null,
        said: code,
        left: [],
      });
    },
  );

  it('that comes while the program is read ends a command that has nothing to settle', async () => {
    layOut([]);
    const hook = join(import.meta.dirname, 'signal-at-start-hook.cjs');
    const { signal, stdout } = await runCli(['schema', 'policy'], bench, {
      env: { NODE_OPTIONS: `--require ${hook}` },
    });
    expect({ signal, stdout }).toEqual({ signal: 'SIGTERM', stdout: '' });
  });

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
