import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Event } from '../../src/events/index.ts';
import { type Bench, CLI, commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench({ 'a.txt': 'a\n' });
});
afterEach(() => bench.remove());

describe('a reader that goes away', () => {
  it('ends a printing command quietly', async () => {
    const child = spawn(process.execPath, [CLI, 'schema', 'events'], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout.destroy();
    const code = await new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('a reader of stderr that has stopped reading', () => {
  it('does not keep a command from its end', async () => {
    const pipe = join(bench.io, 'stderr');
    execFileSync('mkfifo', [pipe]);
    const both = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    expect(() => {
      for (;;) writeSync(both, Buffer.alloc(4096));
    }).toThrow('EAGAIN');
    const child = spawn(process.execPath, [CLI, 'nonsense'], { env: bench.env, stdio: ['ignore', 'ignore', both] });
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(2);
    closeSync(both);
  });
});

describe.skipIf(!existsSync('/usr/bin/prlimit'))('a machine that gives no more descriptors', () => {
  it.each([24, 32])('%i of them: the run ends by itself, with the exit code that its last event says', async (most) => {
    bench.write('belay.yml', 'version: 1\nverify: {checks: []}\n');
    commitAll(bench);
    const cassette = writeCassette(bench, [
      { tool_calls: [{ name: 'shell', input: { command: 'echo b > a.txt' } }] },
      { tool_calls: [{ name: 'search', input: { pattern: 'b' } }] },
    ]);
    const words = [`--nofile=${most}`, process.execPath, CLI, 'run', 'go', '--replay', cassette];
    const child = spawn('/usr/bin/prlimit', words, {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    const { exitCode, signalCode } = child;
    const last = out === '' ? null : Event.parse(JSON.parse(out.trimEnd().split('\n').at(-1) ?? ''));
    expect({ exitCode, signalCode, said }).toEqual({
      exitCode: last?.type === 'run.completed' ? last.result.exit_code : 'that of the last event',
      signalCode: null,
      said: expect.not.stringContaining('    at '),
    });
  });
});

describe('a full disk under stdout', () => {
  it.each([['--version'], ['-v'], ['--help'], ['schema', 'events']])(
    'is told in one line by %s %s',
    async (...words) => {
      const { code, stderr } = await runCli(words, bench, { stdout: '/dev/full' });
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^belay: cannot write to stdout: ENOSPC[^\n]*\n$/),
      });
    },
  );
});
