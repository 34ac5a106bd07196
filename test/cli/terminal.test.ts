import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, controlsIn, createBench, runCli, writeCassette } from '../scenario.ts';

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

describe('without a terminal, as in a pipeline', () => {
  it('a run is plain lines, whatever its commands print: no escape sequence, no line drawn over, and no status line', async () => {
    const hostile = String.raw`printf '50%%\r100%%\r\n\033[2J\033[31mred\007\b\n\033]0;title\007'; echo b > a.txt; false`;
    const cassette = writeCassette(bench, [
      { text: 'I \u001b[1mlook\u001b[0m\rfirst', tool_calls: [{ name: 'shell', input: { command: hostile } }] },
      { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'it is b\r\u001b[2Jnow' } }] },
    ]);
    const arguments_ = ['run', 'make it b', '--replay', cassette, '--format'];
    const [text, jsonl] = [await runCli([...arguments_, 'text'], bench), await runCli([...arguments_, 'jsonl'], bench)];
    expect([text.code, controlsIn(text.stdout + text.stderr), text.stderr]).toEqual([0, [], '']);
    expect(text.stdout).toMatch(/^\$ printf .* exit 1 .*\n( {2}│ .*\n)+/m);
    expect(text.stdout).toContain('VERIFIED (exit 0)');
    // What people see while the events go elsewhere: a line a turn and a round of checks.
    expect([jsonl.code, controlsIn(jsonl.stdout + jsonl.stderr)]).toEqual([0, []]);
    const lines = jsonl.stderr.split('\n');
    const rounds = ['turn 1 ·', 'turn 2 ·', 'checks pass', 'checks pass', ''];
    expect(lines.map((line, index) => line.includes(rounds[index] ?? line))).toEqual(rounds.map(() => true));
    expect(lines.slice(0, -1).filter((line) => !line.startsWith('belay: turn '))).toEqual([]);
  });
});
