import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { CLI, createBench, runCli } from '../scenario.ts';

interface Told {
  code: number;
  out: string;
  said: string;
}

/** A command line that is refused before anything starts: what it prints, and what it says on stderr. */
function tell(...words: string[]): Promise<Told> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...words], { cwd: import.meta.dirname }, (_error, out, said) => {
      resolve({ code: child.exitCode ?? -1, out, said: said.trim() });
    });
    child.stdin?.end();
  });
}

const needing = COMMANDS.filter(({ usage }) => usage.includes('<'));
/** Phrases of the library that parses. */
const NOT_OURS = /Unknown argument|Not enough|non-option|Missing required|Too many|Invalid values|Did you mean/;

describe('a command line that is wrong', () => {
  it.each(needing.map(({ usage, positionals }) => [usage.split(' ')[0] ?? '', usage, Object.keys(positionals)[0]]))(
    'of belay %s without its words names what is missing and the usage',
    async (name, usage, first) => {
      const { code, said } = await tell(name);
      expect({ code, said }).toEqual({
        code: 2,
        said: expect.stringMatching(new RegExp(`^belay: belay ${name}: <${first}> is missing \\(.+\\); usage: belay `)),
      });
      expect(said.endsWith(usage)).toBe(true);
      expect(said.split('\n')).toHaveLength(1);
    },
  );

  it.each([
    [['run'], "there is no goal: belay run 'the goal', --goal-file F, or - to read it from stdin"],
    [['batch'], 'name a job file: belay batch JOBS.jsonl, or --files GLOB with --goal TEXT'],
    [['batch', 'merge'], 'name what to join: belay batch merge FILE…'],
    [['policy', 'explain'], "belay policy explain needs a command or host:port: belay policy explain 'git push'"],
    [['policy', 'rub'], 'belay policy: there is no action "rub"; one of check, show, explain'],
    [['audit', 'a', 'b'], 'belay audit: "b" is one argument too many; usage: belay audit <events>'],
    [
      ['run', '--', '-a', '-b'],
      'belay run: "-b" is one argument too many (a goal of several words goes into quotes); usage: belay run [goal]',
    ],
    [['run', 'a', '--nope', 'x'], 'belay run has no option --nope (see belay run --help)'],
    [['run', 'a', '--turnz=3'], 'belay run has no option --turnz; did you mean --turns? (see belay run --help)'],
    [['run', 'a', '--__proto__', 'x'], 'belay run has no option --__proto__ (see belay run --help)'],
    [['--format', 'text', 'policy', 'show'], 'belay policy has no option --format (see belay policy --help)'],
    [['doctor', '-xyz'], 'belay doctor has no option -xyz (see belay doctor --help)'],
    [
      ['doctor', '--get-yargs-completions'],
      'belay doctor has no option --get-yargs-completions (see belay doctor --help)',
    ],
    [['run', 'a', '--turns'], '--turns needs a value'],
    [['run', 'a', '--turns', '--format', 'jsonl'], '--turns needs a value'],
    [['run', 'a', '--turns', '3', '--turns', '4'], '--turns was given 2 times'],
    [['run', 'a', '--turns', 'many'], 'option --turns: "many" is not valid; expected a whole number from 1 to 100000'],
    [['run', 'a', '--ephemeral=maybe'], '--ephemeral takes no value, but "maybe" was given'],
    [['--', 'run'], 'name a command; see belay --help'],
    [['--nope'], 'belay has no option --nope (see belay --help)'],
    [['--format', 'text', 'frobnicate'], 'there is no command frobnicate (see belay --help)'],
    [['help', 'rnu'], 'there is no command rnu; did you mean run? (see belay --help)'],
  ])('%j is told in one sentence of belay', async (words, sentence) => {
    const { code, said } = await tell(...words);
    expect({ code, said }).toEqual({ code: 2, said: `belay: ${sentence}` });
    expect(said).not.toMatch(NOT_OURS);
  });

  it('has its verdict in the stream and the result file of a run', async () => {
    const bench = createBench();
    const result = join(bench.io, 'result.json');
    const end = await runCli(['run', 'go', '--nope', '--result', result], bench);
    expect(end.code).toBe(2);
    expect(end.events.map(({ type }) => type)).toEqual(['run.started', 'run.completed']);
    expect(end.result).toMatchObject({ outcome: 'usage_error', reason: expect.stringContaining('no option --nope') });
    expect(existsSync(result)).toBe(true);
    bench.remove();
  });

  it('shows help for the word help alone, and never takes a goal for it', async () => {
    expect((await tell('help')).out).toMatch(/^belay <command>/);
    expect((await tell('help', 'audit')).out).toMatch(/^belay audit <events>/);
    const goal = await tell('run', 'help', '--policy', '/nowhere/belay.yml');
    expect(goal).toMatchObject({ code: 2, said: expect.stringContaining('/nowhere/belay.yml') });
  });

  it('takes the value of a short option in every form', async () => {
    for (const given of [['-o', '/nowhere/r.html'], ['-o/nowhere/r.html'], ['-o=/nowhere/r.html']])
      expect(await tell('report', import.meta.filename, ...given)).toMatchObject({
        code: 2,
        said: expect.stringContaining('/nowhere'),
      });
  });
});
