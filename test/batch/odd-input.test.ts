import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench } from '../scenario.ts';
import { runBatch, writeJobs } from './batch-run.ts';

const SECRET = 'words-of-another-folder';
let bench: Bench;
const line = (job: object) => `${JSON.stringify(job)}\n`;

beforeAll(() => {
  bench = createBench({
    'belay.yml': 'version: 1\nverify: {checks: []}\n',
    'goals/fine.md': 'Mend it.\n',
    'goals/blank.md': ' \n',
    'goals/big.md': 'x'.repeat(1_048_577),
  });
  commitAll(bench);
  writeFileSync(join(bench.io, 'secret.md'), SECRET);
  mkdirSync(join(bench.io, 'folder'));
  symlinkSync(join(bench.io, 'secret.md'), join(bench.ws, 'goals/out.md'));
  symlinkSync('fine.md', join(bench.ws, 'goals/in.md'));
});
afterAll(() => bench.remove());

/** Validates a job file of the repository, or of another folder; nothing runs. */
function plan(text: string | Buffer, folder = bench.ws) {
  const file = join(folder, 'jobs.jsonl');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'batch', 'plan', file, '--model', 'openai/x'], {
    cwd: bench.ws,
    env: bench.env,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

describe('a batch that cannot begin', () => {
  it.each([
    ['whose file of results is something else', { results: 'notes\n' }, { kind: 'usage_error', code: 2 }],
    ['whose state folder is a file', { state: '' }, { kind: 'usage_error', code: 2 }],
  ])('%s has a stream with one end that says so, and leaves what is there', async (_, there, { kind, code }) => {
    for (const [name, text] of Object.entries(there)) writeFileSync(join(bench.io, name), text);
    const { file, replay } = writeJobs(bench, { a: { command: 'true' } });
    const paths = ['--results', join(bench.io, 'results'), '--events', join(bench.io, 'events')];
    const env = 'state' in there ? { XDG_STATE_HOME: join(bench.io, 'state') } : {};
    const end = await runBatch([file, '--replay', replay, ...paths], bench, { env });
    expect([end.code, end.completed?.exit_code, end.completed?.stopped?.kind]).toEqual([code, code, kind]);
    expect(end.lines.length).toBe(2);
    expect(readFileSync(join(bench.io, 'events'), 'utf8')).toBe(`${end.lines.join('\n')}\n`);
    expect(end.stderr).toContain(end.completed?.stopped?.reason);
    for (const [name, text] of Object.entries(there)) expect(readFileSync(join(bench.io, name), 'utf8')).toBe(text);
    for (const name of Object.keys(there)) rmSync(join(bench.io, name));
  });

  it('is nothing to merge', async () => {
    writeFileSync(join(bench.io, 'refused.jsonl'), (await runBatch(['/nowhere/jobs.jsonl'], bench)).lines.join('\n'));
    const end = await runBatch(['merge', join(bench.io, 'refused.jsonl')], bench);
    expect([end.code, end.completed?.stopped?.reason]).toEqual([
      2,
      expect.stringContaining('there is nothing to join'),
    ]);
  });
});

describe('a job file', () => {
  it.each<[string, string | Buffer, RegExp]>([
    ['without a byte', '', /there is no job in it/],
    ['of blank lines', '\r\n \n\n', /there is no job in it/],
    ['that is no UTF-8', Buffer.from([0xff, 0xfe, 0x7b, 0x00]), /not UTF-8/],
    ['of zeros', Buffer.alloc(1_000_000), /:1: the line is not JSON/],
    [
      'with misspelt keys',
      line({ id: 'a', gaol: 'x' }) + line({ id: 'b', goal: 'x', limits: { turnz: 1, 'zz\u001b': 2 } }),
      /:1: there is no key gaol; did you mean goal\?; .*\n.*:2: limits: there is no key turnz; did you mean turns\?; there is no key zz\\x1b$/m,
    ],
    ['of values that are no jobs', 'null\n[]\n"x"\n', /:1: .*\n.*:2: .*\n.*:3: /],
    ['with an id twice', line({ id: 'a', goal: 'x' }) + line({ id: 'a', goal: 'y' }), /:2: the id "a" is that of .*:1/],
    ...['a/b', '..', '../x', 'a\nb', 'ü', '', '-x', 'a'.repeat(101)].map((id): [string, string, RegExp] => [
      `with the id ${JSON.stringify(id).slice(0, 20)}`,
      line({ id, goal: 'x' }),
      /:1: id: letters, digits, dot, dash and underscore/,
    ]),
    [
      'with a goal of 10 MB',
      line({ id: 'a', goal: 'x'.repeat(10_000_000) }),
      /:1: goal: the goal is longer than 1048576/,
    ],
    ['with a goal file that is too long', line({ id: 'a', goal_file: 'goals/big.md' }), /:1: goal_file .*longer than/],
    ['with a blank goal file', line({ id: 'a', goal_file: 'goals/blank.md' }), /:1: goal_file .*empty/],
    ['with a folder for a goal', line({ id: 'a', goal_file: 'goals' }), /:1: goal_file: cannot read/],
    [
      'with a ref that is an option',
      line({ id: 'a', goal: 'x', ref: '--upload-pack=x' }),
      /:1: ref .* names no commit/,
    ],
  ])('%s is refused in words, with the line where there is one', (_, text, words) => {
    const end = plan(text);
    expect([end.code, end.stdout]).toEqual([2, '']);
    expect(end.stderr).toMatch(words);
  });

  it('may have a mark of byte order and line ends of Windows', () => {
    const text = `\ufeff${line({ id: 'a', goal: 'x' })}${line({ id: 'b', goal_file: 'goals/in.md' })}`;
    const end = plan(text.replaceAll('\n', '\r\n'));
    expect([end.code, end.stderr]).toEqual([0, '']);
    expect(JSON.parse(end.stdout).include).toHaveLength(2);
  });

  it('of the repository may name files of the repository alone, links followed; one from elsewhere any file', () => {
    const jobs = ['goals/out.md', join(bench.io, 'secret.md'), '../../../../../../etc/hostname'].map((goal_file, at) =>
      line({ id: `g${at}`, goal_file }),
    );
    const context = line({ id: 'c', goal: 'x', context: ['goals/out.md'] });
    const end = plan(jobs.join('') + context);
    expect(end.code).toBe(2);
    for (const at of [1, 2, 4]) expect(end.stderr).toMatch(new RegExp(`:${at}: .* is outside of the repository`));
    expect(end.stderr).not.toContain(SECRET);
    const foreign = plan(line({ id: 'a', goal_file: 'secret.md' }), bench.io);
    expect([foreign.code, foreign.stderr]).toEqual([0, '']);
  });
});
