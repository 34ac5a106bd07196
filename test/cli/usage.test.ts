import { execFile } from 'node:child_process';
import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { BatchEvent, Event } from '../../src/events/index.ts';
import { CLI, createBench, runCli, writeCassette } from '../scenario.ts';

interface Told {
  code: number;
  out: string;
  said: string;
}

/** A command line that is refused before anything starts: what it prints, and what it says on stderr. */
function tell(...given: (string | { cwd: string })[]): Promise<Told> {
  const words = given.filter((one) => typeof one === 'string');
  const cwd = given.find((one) => typeof one !== 'string')?.cwd ?? import.meta.dirname;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...words], { cwd }, (_error, out, said) => {
      resolve({ code: child.exitCode ?? -1, out, said: said.trim() });
    });
    child.stdin?.end();
  });
}

const linesOf = (out: string): unknown[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

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

  it('has its verdict in the stream of a replay and of a batch as well, and in nothing that people read', async () => {
    for (const words of [['replay'], ['replay', '/nowhere/events.jsonl'], ['resume', 't_none', '--nope']]) {
      const { code, out } = await tell(...words);
      const events = linesOf(out).map((line) => Event.parse(line));
      expect([code, events.map(({ type }) => type)]).toEqual([2, ['run.started', 'run.completed']]);
      expect(events[1]).toMatchObject({ result: { outcome: 'usage_error', exit_code: 2 } });
    }
    for (const words of [['batch'], ['batch', '/nowhere/jobs.jsonl'], ['batch', 'merge'], ['batch', 'a', '--nope']]) {
      const { code, out, said } = await tell(...words);
      const events = linesOf(out).map((line) => BatchEvent.parse(line));
      expect([code, events.map(({ type }) => type)]).toEqual([2, ['batch.started', 'batch.completed']]);
      expect(events[1]).toMatchObject({ exit_code: 2, jobs: 0, stopped: { kind: 'usage_error' } });
      expect(said).toBe(`belay: ${events[1]?.type === 'batch.completed' ? events[1].stopped?.reason : ''}`);
    }
    for (const words of [
      ['batch', 'plan'],
      ['batch', '--format', 'text'],
      ['batch', '--format', 'quiet'],
    ])
      expect(await tell(...words)).toMatchObject({
        code: 2,
        out: '',
        said: expect.stringMatching(/^belay: name a job file/),
      });
  });

  it('names no output that the command reads: that file is not emptied', async () => {
    const bench = createBench({ 'log.jsonl': 'precious\n' });
    symlinkSync('log.jsonl', join(bench.ws, 'link.jsonl'));
    const asked: [string[], string][] = [
      [['replay', 'log.jsonl', '--events', 'log.jsonl'], '--events would overwrite what log.jsonl reads'],
      [['batch', './log.jsonl', '--results', 'link.jsonl'], '--results would overwrite what ./log.jsonl reads'],
      [['batch', 'merge', 'log.jsonl', '-o', 'log.jsonl'], '--output would overwrite what log.jsonl reads'],
      [['report', 'log.jsonl', '-o', 'log.jsonl'], '--output would overwrite what log.jsonl reads'],
      [['run', 'go', '--policy', 'log.jsonl', '--events', 'log.jsonl'], '--events would overwrite what --policy reads'],
      [['run', 'go', '--replay', 'log.jsonl', '--record', 'log.jsonl'], '--record would overwrite what --replay reads'],
      [['verify', '--patch', 'log.jsonl', '--result', 'log.jsonl'], '--result would overwrite what --patch reads'],
    ];
    await Promise.all(
      asked.map(async ([words, reason]) => {
        const { code, said } = await tell({ cwd: bench.ws }, ...words);
        expect({ code, said }).toEqual({ code: 2, said: `belay: ${reason}: ${join(bench.ws, 'log.jsonl')}` });
      }),
    );
    expect(bench.read('log.jsonl')).toBe('precious\n');
    bench.remove();
  });

  it('asks for an explanation of a host without its port: the note says how', async () => {
    for (const subject of ['example.org', 'https://example.org/x'])
      expect(await tell('policy', 'explain', subject)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^allow: /),
        said: `belay: ${subject} is explained as a command; a connection is HOST:PORT, such as example.org:443`,
      });
    for (const subject of ['git push', './a.sh', 'build.sh', 'example.org:443', 'v1.2'])
      expect(await tell('policy', 'explain', subject)).toMatchObject({ code: 0, said: '' });
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

it.each([
  ['a folder for temporary files that is not there', { TMPDIR: '/nonexistent/folder' }, 'temporary_folder'],
  ['a workspace with a line break in its path', {}, 'workspace_name'],
] as const)('%s is bad usage, told before anything runs', async (_, env, error) => {
  const bench = createBench({ 'a.txt': 'a\n' });
  const cassette = writeCassette(bench, [{ text: 'done' }]);
  const ws = join(bench.root, 'a\nb');
  renameSync(bench.ws, ws);
  if (error === 'temporary_folder') renameSync(ws, bench.ws);
  const cwd = error === 'temporary_folder' ? bench.ws : ws;
  const { code, result } = await runCli(['run', 'go', '--replay', cassette], bench, { env, cwd });
  expect({ code, error: result?.error?.code }).toEqual({ code: 2, error });
  bench.remove();
});
