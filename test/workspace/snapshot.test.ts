import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { createRepository, git, look, open, privates, put, temporaryFolder } from './quick-repository.ts';

const headTree = (root: string): string => git(root, 'rev-parse', 'HEAD^{tree}').trim();

describe('a snapshot', () => {
  it('of a clean start is the tree of HEAD', async () => {
    const root = createRepository({ 'a.txt': 'a\n', 'bin/run!': '#!/bin/sh\n', link: '-> a.txt' });
    const workspace = await open(root);
    expect(workspace.base).toEqual({
      commit: git(root, 'rev-parse', 'HEAD').trim(),
      dirty: false,
      git: true,
      tree: headTree(root),
    });
    expect(await workspace.snapshot()).toBe(headTree(root));
  });

  it('is the tree that git add -A would make, ignored files left out', async () => {
    const root = createRepository({ 'a.txt': 'a\n', gone: 'x', '.gitignore': 'out/\n*.log\n' });
    const workspace = await open(root);
    put(root, {
      'a.txt': 'changed\n',
      'new dir/ñ "q"\t.txt': 'x\n',
      'line\nbreak': 'x',
      'out/x': 'ignored',
      'y.log': 'ignored',
      'b!': 'b',
    });
    rmSync(join(root, 'gone'));
    const tree = await workspace.snapshot();
    git(root, 'add', '-A');
    expect(tree).toBe(git(root, 'write-tree').trim());
    expect(await workspace.changedPaths(workspace.base.tree, tree)).toEqual([
      { path: 'a.txt', kind: 'update' },
      { path: 'b', kind: 'add' },
      { path: 'gone', kind: 'delete' },
      { path: 'line\nbreak', kind: 'add' },
      { path: 'new dir/ñ "q"\t.txt', kind: 'add' },
    ]);
  });

  it('sees a change that keeps size and modification time', async () => {
    const root = createRepository({ 'a.txt': 'aaaa\n' });
    const workspace = await open(root);
    const { atime, mtime } = statSync(join(root, 'a.txt'));
    writeFileSync(join(root, 'a.txt'), 'bbbb\n');
    utimesSync(join(root, 'a.txt'), atime, mtime);
    expect(await workspace.snapshot()).not.toBe(workspace.base.tree);
    writeFileSync(join(root, 'a.txt'), 'aaaa\n');
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
  });

  it('sees each of many quick changes of one length', async () => {
    const root = createRepository({ 'a.txt': '0000\n' });
    const workspace = await open(root);
    const trees = new Set<string>();
    for (let round = 1; round <= 15; round += 1) {
      writeFileSync(join(root, 'a.txt'), `${String(round).padStart(4, '0')}\n`);
      trees.add(await workspace.snapshot());
    }
    expect(trees.size).toBe(15);
  });

  it('sees a change made in the tick in which the user’s index was written', async () => {
    for (let round = 0; round < 5; round += 1) {
      const root = createRepository({ 'a.txt': 'aaaa\n' });
      writeFileSync(join(root, 'a.txt'), 'bbbb\n');
      const workspace = await open(root);
      expect([workspace.base.dirty, String(await workspace.read(workspace.base.tree, 'a.txt'))]).toEqual([
        true,
        'bbbb\n',
      ]);
    }
  });

  it('records the executable bit, links and changes of type', async () => {
    const root = createRepository({
      file: 'x\n',
      'folder/a': 'a\n',
      'folder/b': 'b\n',
      link: '-> file',
      script: 'echo\n',
    });
    const workspace = await open(root);
    rmSync(join(root, 'file'));
    rmSync(join(root, 'folder'), { recursive: true });
    put(root, { 'file/inner': 'now a folder\n', folder: 'now a file\n', link: 'now a file\n' });
    chmodSync(join(root, 'script'), 0o755);
    const tree = await workspace.snapshot();
    git(root, 'add', '-A');
    expect(tree).toBe(git(root, 'write-tree').trim());
  });

  it('never opens what is no file: a FIFO, a socket', async () => {
    const root = createRepository({ kept: 'x\n', empty: '', replaced: 'x\n' });
    const workspace = await open(root);
    rmSync(join(root, 'replaced'));
    rmSync(join(root, 'empty'));
    for (const name of ['replaced', 'empty', 'fresh']) execFileSync('mkfifo', [join(root, name)]);
    const tree = await workspace.snapshot();
    expect(await workspace.list(tree)).toEqual(expect.not.arrayContaining(['replaced', 'fresh']));
    await workspace.restore(workspace.base.tree);
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
    expect(look(root)['replaced']).toBe('644 x\n');
  });

  it('takes a folder that became a link to outside as the link that it is', async () => {
    const root = createRepository({ 'src/a': 'a\n' });
    const workspace = await open(root);
    const outside = temporaryFolder();
    put(outside, { a: 'outside\n', b: 'outside\n' });
    rmSync(join(root, 'src'), { recursive: true });
    symlinkSync(outside, join(root, 'src'));
    const tree = await workspace.snapshot();
    expect(await workspace.list(tree)).toEqual(['src']);
    expect(String(await workspace.read(tree, 'src'))).toBe(outside);
  });

  it('refuses a name that is not UTF-8, and says which', async () => {
    const root = createRepository({ a: 'a' });
    const workspace = await open(root);
    writeFileSync(Buffer.concat([Buffer.from(join(root, 'bad-')), Buffer.from([0xff])]), 'x');
    await expect(workspace.snapshot()).rejects.toThrow(
      expect.objectContaining({ code: 'file_name', message: expect.stringContaining('bad-\\xff') }),
    );
    git(root, 'add', '-A');
    await expect(open(root)).rejects.toThrow(UsageError);
  });

  it.skipIf(process.geteuid?.() === 0)('names a file or folder that it may not read', async () => {
    const root = createRepository({ a: 'a', 'sub/b': 'b', '.gitignore': 'data/\n' });
    mkdirSync(join(root, 'data'), { mode: 0 });
    const workspace = await open(root);
    put(root, { 'sub/c': 'c' });
    chmodSync(join(root, 'sub/c'), 0);
    await expect(workspace.snapshot()).rejects.toThrow(/^sub\/c cannot be read/);
    chmodSync(join(root, 'sub'), 0);
    await expect(workspace.snapshot()).rejects.toThrow(/^sub cannot be read/);
    expect(await workspace.restore(workspace.base.tree)).toBe(1);
  });

  it('leaves out what was ignored at the start, also when the ignore rule goes', async () => {
    const root = createRepository({ a: 'a', '.gitignore': '.env\ndeps/\n' });
    put(root, { '.env': 'private\n', 'deps/x': 'x\n' });
    const workspace = await open(root);
    put(root, { '.gitignore': '!.env\n' });
    const tree = await workspace.snapshot();
    expect(await workspace.list(tree)).toEqual(['.gitignore', 'a']);
    await workspace.restore(workspace.base.tree);
    expect(look(root)).toEqual({
      a: '644 a',
      '.gitignore': '644 .env\ndeps/\n',
      '.env': '644 private\n',
      'deps/x': '644 x\n',
    });
  });

  it('pins what ignoredPaths tells of, and still sees tracked files among it', async () => {
    const root = createRepository({ a: 'a', '.gitignore': '' });
    put(root, { 'dist/tracked': 'one', '.gitignore': 'dist/\n' });
    git(root, 'add', '-f', '-A');
    git(root, 'commit', '-qm', 'forced');
    const workspace = await open(root);
    put(root, { 'node_modules/m/x': 'x', 'dist/built': 'x', 'a.o': 'x', '.gitignore': 'dist/\nnode_modules\n*.o\n' });
    expect([...(await workspace.ignoredPaths())].sort()).toEqual(['a.o', 'dist/built', 'node_modules']);
    put(root, { '.gitignore': '', 'dist/tracked': 'two' });
    const changed = await workspace.changedPaths(workspace.base.tree, await workspace.snapshot());
    expect(changed.map((change) => change.path)).toEqual(['.gitignore', 'dist/tracked']);
  });

  it('costs no new object and no new index when nothing changed', async () => {
    const root = createRepository({ a: 'a' });
    const storeDir = join(temporaryFolder(), 'state');
    const workspace = await open(root, { storeDir });
    await workspace.snapshot();
    const before = look(storeDir);
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
    expect(look(storeDir)).toEqual(before);
  });

  it('taken twice at once is taken one after the other', async () => {
    const root = createRepository({ a: 'a' });
    const workspace = await open(root);
    put(root, { b: 'b' });
    const trees = await Promise.all(Array.from({ length: 8 }, () => workspace.snapshot()));
    expect(new Set(trees).size).toBe(1);
  });
});

describe('the user’s repository', () => {
  it('stays as it is, byte for byte', async () => {
    const root = createRepository({ a: 'a\n', b: 'b\n' });
    put(root, { a: 'stashed\n' });
    git(root, 'stash');
    put(root, { b: 'staged\n', c: 'untracked\n' });
    git(root, 'add', 'b');
    utimesSync(join(root, 'a'), 1, 1);
    const before = privates(root);
    const workspace = await open(root);
    put(root, { a: 'x', d: 'y' });
    const tree = await workspace.snapshot();
    const { patch } = await workspace.diff(workspace.base.tree, tree);
    await workspace.proves(patch, tree);
    await workspace.checkout(tree, join(temporaryFolder(), 'out'));
    await workspace.resolveTrustRef('main');
    await workspace.restore(workspace.base.tree);
    expect(privates(root)).toEqual(before);
    expect(git(root, 'status', '--porcelain')).toBe('M  b\n?? c\n');
  });
});
