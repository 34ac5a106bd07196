import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const POLICY =
  'version: 1\ntools: {edit: replace_text}\nlimits: {attempts: 1}\nverify:\n  checks:\n    - {name: tests, run: sh test.sh}\n';
const FILES = { 'add.sh': 'echo $(( $1 - $2 ))\n', 'test.sh': 'test "$(sh add.sh 2 3)" = 5\n', 'belay.yml': POLICY };
const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const finish = answer('finish', { status: 'done', summary: 'done' });
const edit = (newText: string) => answer('replace_text', { path: 'add.sh', old_text: '$1 - $2', new_text: newText });
let bench: Bench;
afterEach(() => bench.remove());

function run(cwd: string, answers: string, args: readonly string[] = []) {
  const cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, answers);
  return runCli(['run', 'fix', '--replay', cassette, ...args], bench, { cwd });
}
const brief = (end: Awaited<ReturnType<typeof runCli>>) => ({
  code: end.code,
  outcome: end.result?.outcome,
  stderr: end.code === 0 ? '' : end.stderr,
});
const VERIFIED = { code: 0, outcome: 'verified', stderr: '' };
const fixed = (dir: string) => readFileSync(join(dir, 'add.sh'), 'utf8');

describe('a run works', () => {
  it('in a folder that is no repository', async () => {
    bench = createBench(FILES);
    rmSync(join(bench.ws, '.git'), { recursive: true });
    const end = await run(bench.ws, edit('$1 + $2') + finish);
    expect(brief(end)).toEqual(VERIFIED);
    expect(end.result?.changes.base_commit).toBeNull();
    const wrong = await run(bench.ws, answer('shell', { command: 'echo x > junk; echo broken > add.sh' }) + finish);
    expect(wrong.code).toBe(10);
    expect(fixed(bench.ws)).toBe('echo $(( $1 + $2 ))\n');
  });

  it('in a subfolder of a repository, which alone is writable', async () => {
    bench = createBench({
      'top.txt': 'top\n',
      ...Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`sub/${path}`, text])),
    });
    commitAll(bench);
    const end = await run(
      join(bench.ws, 'sub'),
      answer('shell', { command: 'cat ../top.txt; echo x > ../top.txt; echo x > ../new.txt' }) +
        edit('$1 + $2') +
        finish,
    );
    expect(brief(end)).toEqual(VERIFIED);
    expect(end.result?.changes.files.map(({ path }) => path)).toEqual(['sub/add.sh']);
    expect(bench.read('top.txt')).toBe('top\n');
  });

  it('in a linked worktree and in a shallow clone', async () => {
    bench = createBench(FILES);
    commitAll(bench);
    // git works for a check too, also where the name of the repository that has the objects begins like the worktree's.
    bench.write('test.sh', `git rev-parse HEAD > more.txt && ${FILES['test.sh']}`);
    commitAll(bench);
    const tree = bench.ws.slice(0, -1);
    bench.git('worktree', 'add', '-q', tree, '-b', 'side');
    expect(
      brief(
        await run(
          tree,
          answer('shell', { command: 'git status --porcelain; git log --oneline | wc -l' }) + edit('$1 + $2') + finish,
        ),
      ),
    ).toEqual(VERIFIED);
    expect(fixed(tree)).toBe('echo $(( $1 + $2 ))\n');
    const shallow = join(bench.root, 'shallow');
    bench.git('clone', '-q', '--depth', '1', `file://${bench.ws}`, shallow);
    expect(brief(await run(shallow, edit('$1 + $2') + finish))).toEqual(VERIFIED);
    expect(fixed(shallow)).toBe('echo $(( $1 + $2 ))\n');
  });

  it('beside submodules, nested repositories, links and odd names', async () => {
    bench = createBench(FILES);
    const other = join(bench.root, 'other');
    execFileSync('git', ['init', '-q', other], { env: bench.env });
    writeFileSync(join(other, 'lib.txt'), 'lib\n');
    const inOther = (...args: string[]) => bench.git('-C', other, ...args);
    inOther('add', '-A');
    inOther('commit', '-qm', 'lib');
    bench.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other, 'sub');
    mkdirSync(join(bench.ws, 'dir with space'));
    bench.write('dir with space/na"me\n.txt', 'odd\n');
    symlinkSync('add.sh', join(bench.ws, 'link'));
    commitAll(bench);
    execFileSync('git', ['clone', '-q', other, join(bench.ws, 'nested')], { env: bench.env });
    const end = await run(
      bench.ws,
      answer('shell', { command: 'cat sub/lib.txt nested/lib.txt; echo x > sub/lib.txt; echo x > nested/lib.txt' }) +
        edit('$1 + $2') +
        finish,
    );
    expect(brief(end)).toEqual(VERIFIED);
    expect(end.result?.changes.files.map(({ path }) => path)).toEqual(['add.sh']);
    expect(bench.read('sub/lib.txt') + bench.read('nested/lib.txt')).toBe('lib\nlib\n');
  });

  it('on a dirty start, and loses nothing of it: edits, the index, the stash and branches', async () => {
    bench = createBench({ ...FILES, 'notes.txt': 'one\n', 'gone.txt': 'gone\n' });
    commitAll(bench);
    bench.write('notes.txt', 'stashed\n');
    bench.git('stash', '-q');
    bench.git('branch', 'side');
    bench.write('notes.txt', 'staged\n');
    bench.git('add', 'notes.txt');
    bench.write('notes.txt', 'edited\n');
    bench.write('untracked.txt', 'mine\n');
    rmSync(join(bench.ws, 'gone.txt'));
    const state = () => [
      bench.git('status', '--porcelain=v2'),
      bench.git('stash', 'list'),
      bench.git('for-each-ref'),
      bench.git('ls-files', '-s'),
    ];
    const [before, tree] = [state(), treeOf(bench.ws)];
    const wrong = await run(
      bench.ws,
      answer('shell', { command: 'rm -f untracked.txt notes.txt; echo x > gone.txt; echo junk > junk' }) + finish,
    );
    expect({
      code: wrong.code,
      dirty: wrong.result?.changes.base_dirty,
    }).toEqual({ code: 10, dirty: true });
    expect(state()).toEqual(before);
    expect(treeOf(bench.ws)).toEqual(tree);
    const right = await run(bench.ws, edit('$1 + $2') + finish);
    expect(brief(right)).toEqual(VERIFIED);
    expect(right.result?.changes.files.map(({ path }) => path)).toEqual(['add.sh']);
    expect(treeOf(bench.ws)).toEqual({ ...tree, 'add.sh': 'echo $(( $1 + $2 ))\n' });
    expect(bench.git('ls-files', '-s')).toBe(before[3]);
  });
});
