import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench } from '../scenario.ts';

/** `script` of util-linux gives a program a terminal. */
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
const CLEAR = '\r\x1b[2K';
let bench: Bench;
beforeEach(() => {
  bench = createBench({
    'a.txt': 'a\n',
    'belay.yml': 'version: 1\nverify: {checks: [{name: tests, run: "grep -q b a.txt"}]}\n',
  });
  commitAll(bench);
});
afterEach(() => bench.remove());

/** What is on the screen, and what was there for a moment: the status line. */
function runOnTerminal(args: readonly string[]): { code: number | null; shown: string; status: string[] } {
  const command = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
  const { status: code, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    cwd: bench.ws,
    env: { ...bench.env, NO_COLOR: '1', TERM: 'xterm' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const parts = stdout.replaceAll('\r\n', '\n').split(CLEAR);
  const isStatus = (part: string) => /^turn \d+ · /.test(part);
  return { code, shown: parts.filter((part) => !isStatus(part)).join(''), status: parts.filter(isStatus) };
}

const timesIn = (text: string, part: string) => text.split(part).length - 1;

describe.skipIf(!hasScript)('on a terminal', () => {
  it('a run shows its verdict once, and meanwhile where it is: turn, attempt, tokens, time and what runs', () => {
    const cassette = join(bench.io, 'model.jsonl');
    const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
    const edit = { tool_calls: [{ name: 'shell', input: { command: 'echo c > a.txt' } }] };
    const usage = { input_tokens: 900, output_tokens: 40 };
    writeFileSync(
      cassette,
      [finish, edit, finish, finish].map((answer) => `${JSON.stringify({ ...answer, usage })}\n`).join(''),
    );
    const { code, shown, status } = runOnTerminal(['run', 'make it b', '--replay', cassette, '--attempts', '2']);
    expect({ code, verdicts: timesIn(shown, 'UNVERIFIED (exit 10)') }).toEqual({ code: 10, verdicts: 1 });
    expect(shown).toContain('goal: make it b');
    expect(shown).not.toContain('belay: unverified');
    expect(status.some((line) => /^turn 3 · attempt 2 · 1\.9k tokens · .* s/.test(line))).toBe(true);
    expect(status.some((line) => line.includes('$ echo c > a.txt'))).toBe(true);
    expect(status.some((line) => line.includes('check tests'))).toBe(true);
  });

  it('a refused run says why, once, and nothing of tokens and changes', () => {
    const { code, shown } = runOnTerminal(['run', 'go', '--turns', '900']);
    expect({ code, times: timesIn(shown, '900 is looser') }).toEqual({ code: 2, times: 1 });
    expect(shown).not.toMatch(/tokens|changes/);
  });

  it('leaves the terminal to whoever comes next: the last line of the run is whole', () => {
    const out = execFileSync(
      'script',
      ['-qec', `'${process.execPath}' '${CLI}' run go --turns 900; echo next`, '/dev/null'],
      {
        cwd: bench.ws,
        env: { ...bench.env, NO_COLOR: '1', TERM: 'xterm' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    expect(out.endsWith(`${CLEAR}next\r\n`)).toBe(true);
  });
});
