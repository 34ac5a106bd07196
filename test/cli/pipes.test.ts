import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, CLI, createBench, runCli } from '../scenario.ts';

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
