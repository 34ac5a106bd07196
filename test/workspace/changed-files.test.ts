import { createHash } from 'node:crypto';
import { chmod, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, createFolder, createRepository, git, open, photograph, write } from './repository.ts';

describe('which files a snapshot reads again', () => {
  it.each([
    ['one', {}],
    ['in a big workspace, one', { manyEntries: 0 }],
  ])('%s whose size and modification time were kept', async (_, options) => {
    const dir = await createRepository({ 'a.txt': 'aaaa\n' });
    const { workspace } = await open(dir, options);
    const { atime, mtime } = await stat(join(dir, 'a.txt'));
    await writeFile(join(dir, 'a.txt'), 'bbbb\n');
    await utimes(join(dir, 'a.txt'), atime, mtime);
    expect(await workspace.snapshot()).not.toBe(workspace.base.tree);
    const first = await workspace.snapshot();
    await writeFile(join(dir, 'a.txt'), 'cccc\n');
    await utimes(join(dir, 'a.txt'), atime, mtime);
    expect([workspace.base.tree, first]).not.toContain(await workspace.snapshot());
    await writeFile(join(dir, 'a.txt'), 'aaaa\n');
    await utimes(join(dir, 'a.txt'), atime, mtime);
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
  });

  it('one that changes again and again within a tick, its size kept', async () => {
    const dir = await createRepository({ 'a.txt': '0000\n' });
    const { workspace } = await open(dir);
    const trees = new Set<string>();
    for (let round = 1; round <= 10; round += 1) {
      await writeFile(join(dir, 'a.txt'), `${String(round).padStart(4, '0')}\n`);
      trees.add(await workspace.snapshot());
    }
    expect(trees.size).toBe(10);
  });

  it('one that changed in the tick in which the user’s index was written', async () => {
    const dir = await createRepository({ a: 'aaaa\n', b: 'bbbb\n' });
    await writeFile(join(dir, 'a'), 'cccc\n');
    await utimes(join(dir, 'a'), 1_700_000_000, 1_700_000_000);
    git(dir, 'add', 'a');
    // The index as it is when `a` had held `bbbb` and was changed in the same tick: right stat data, wrong content.
    const path = join(dir, '.git/index');
    const index = await readFile(path);
    const idOf = (file: string): Buffer => Buffer.from(git(dir, 'hash-object', file), 'hex');
    idOf('b').copy(index, index.indexOf(idOf('a')));
    createHash('sha1')
      .update(index.subarray(0, -20))
      .digest()
      .copy(index, index.length - 20);
    await writeFile(path, index);
    await utimes(path, 1_700_000_000, 1_700_000_000);
    const { workspace } = await open(dir);
    expect(String(await workspace.read(workspace.base.tree, 'a'))).toBe('cccc\n');
  });

  it('one that the user’s index marks as not to be looked at', async () => {
    const dir = await createRepository({ a: 'a', b: 'b' });
    git(dir, 'update-index', '--assume-unchanged', 'a');
    const { workspace } = await open(dir);
    await write(dir, { a: 'changed' });
    expect(await workspace.changedPaths(workspace.base.tree, await workspace.snapshot())).toEqual([
      { path: 'a', kind: 'update' },
    ]);
  });

  it('none when nothing changed: the store stays as it is', async () => {
    const { workspace, storeDir } = await open(await createRepository({ a: 'a' }));
    await workspace.snapshot();
    const before = await photograph(storeDir);
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
    expect(await photograph(storeDir)).toEqual(before);
  });

  it('those that pinned rules name are left out, but for tracked ones', async () => {
    const dir = await createRepository({ a: 'a', '.gitignore': '' });
    await write(dir, { 'dist/tracked': 'one', '.gitignore': 'dist/\n' });
    commit(dir);
    const { workspace } = await open(dir);
    await write(dir, { 'deps/m/x': 'x', 'dist/built': 'x', 'a.o': 'x', '.gitignore': 'dist/\ndeps\n*.o\n' });
    expect([...(await workspace.ignoredPaths())].sort()).toEqual(['a.o', 'deps', 'dist/built']);
    await write(dir, { '.gitignore': '', 'dist/tracked': 'two' });
    const changed = await workspace.changedPaths(workspace.base.tree, await workspace.snapshot());
    expect(changed.map(({ path }) => path)).toEqual(['.gitignore', 'dist/tracked']);
  });

  it.skipIf(process.geteuid?.() === 0)(
    'one that may not be read is named, and restore gives the permission back',
    async () => {
      const dir = await createRepository({ a: 'a', 'sub/b': 'b', '.gitignore': 'data/\n' });
      await write(dir, { 'data/x': null });
      await chmod(join(dir, 'data'), 0);
      const { workspace } = await open(dir);
      await write(dir, { 'sub/c': 'c' });
      await chmod(join(dir, 'sub/c'), 0);
      await expect(workspace.snapshot()).rejects.toMatchObject({
        code: 'unreadable',
        message: expect.stringMatching(/^sub\/c /),
      });
      await chmod(join(dir, 'sub'), 0);
      await expect(workspace.snapshot()).rejects.toMatchObject({
        code: 'unreadable',
        message: expect.stringMatching(/^sub /),
      });
      expect(await workspace.restore(workspace.base.tree)).toBe(1);
      await chmod(join(dir, 'data'), 0o700);
    },
  );
});

describe('indexes of many kinds', () => {
  const files = { 'a/x': 'x\n', 'b/y': 'y\n', c: 'c\n' };
  const kinds: Record<string, (dir: string) => void> = {
    'a split index': (dir) => git(dir, 'update-index', '--split-index'),
    'an untracked cache': (dir) => git(dir, 'update-index', '--untracked-cache'),
    'version 4': (dir) => git(dir, 'update-index', '--index-version', '4'),
    'a sparse index': (dir) => git(dir, 'sparse-checkout', 'set', '--sparse-index', 'a'),
    'an fsmonitor token': (dir) => {
      git(dir, 'config', 'core.fsmonitor', '/bin/false');
      git(dir, 'update-index', '--fsmonitor');
    },
  };
  it.each(Object.keys(kinds))('%s: a clean start stays clean, and a change is seen', async (kind) => {
    const dir = await createRepository(files);
    kinds[kind]?.(dir);
    const { workspace } = await open(dir);
    expect(workspace.base).toMatchObject({ dirty: false, tree: git(dir, 'rev-parse', 'HEAD^{tree}') });
    await write(dir, { 'a/x': 'changed\n', 'a/new': 'new\n' });
    const changed = await workspace.changedPaths(workspace.base.tree, await workspace.snapshot());
    expect(changed).toEqual([
      { path: 'a/new', kind: 'add' },
      { path: 'a/x', kind: 'update' },
    ]);
  });

  it('one that is broken gives way to HEAD', async () => {
    const dir = await createRepository(files);
    await writeFile(join(dir, '.git/index'), 'no index at all');
    const { workspace } = await open(dir);
    expect(workspace.base).toMatchObject({ dirty: false, tree: git(dir, 'rev-parse', 'HEAD^{tree}') });
  });

  it('one with a conflict or an announced file yields what is on disk', async () => {
    const dir = await createRepository({ both: 'base\n', gone: 'base\n' });
    git(dir, 'checkout', '-q', '-b', 'other');
    await write(dir, { both: 'theirs\n', gone: 'theirs\n' });
    commit(dir);
    git(dir, 'checkout', '-q', 'main');
    await write(dir, { both: 'ours\n' });
    await rm(join(dir, 'gone'));
    commit(dir);
    expect(() => git(dir, 'merge', '-q', 'other')).toThrow('merge');
    await write(dir, { announced: 'later\n' });
    git(dir, 'add', '-N', 'announced');
    await rm(join(dir, 'gone'));
    const { workspace } = await open(dir);
    expect(await workspace.list(workspace.base.tree)).toEqual(['announced', 'both']);
    expect(String(await workspace.read(workspace.base.tree, 'both'))).toContain('<<<<<<<');
    const before = await photograph(dir);
    await write(dir, { both: 'solved\n', announced: 'x' });
    await workspace.restore(workspace.base.tree);
    expect(await photograph(dir)).toEqual(before);
    expect(git(dir, 'status', '--porcelain').split('\n').sort()).toEqual(['A announced', 'DU gone', 'UU both']);
  });

  it('a repository with sha-256 ids', async () => {
    const dir = await createFolder();
    git(dir, 'init', '-q', '-b', 'main', '--object-format=sha256');
    await write(dir, { a: 'a\n', b: 'b\n' });
    commit(dir);
    const { workspace } = await open(dir);
    await write(dir, { a: 'changed\n' });
    await rm(join(dir, 'b'));
    const tree = await workspace.snapshot();
    const { files: changed, patch } = await workspace.diff(workspace.base.tree, tree);
    expect([tree.length, changed.length, await workspace.proves(patch, tree)]).toEqual([64, 2, true]);
    await workspace.restore(workspace.base.tree);
    expect(git(dir, 'status', '--porcelain')).toBe('');
  });

  it('more than ten thousand entries: new, changed, deleted and ignored files are told apart', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_050 }, (_, at) => [`f${at % 100}/${at}`, '']));
    const dir = await createRepository({ ...many, 'f1/.gitignore': '*.log\n' });
    const { workspace } = await open(dir);
    await workspace.snapshot();
    await write(dir, { 'f1/new': 'x', 'f2/102': 'x', 'f1/x.log': 'x', 'fresh/deep/er': 'x' });
    await rm(join(dir, 'f3/103'));
    const one = await workspace.snapshot();
    expect(await workspace.changedPaths(workspace.base.tree, one)).toEqual([
      { path: 'f1/new', kind: 'add' },
      { path: 'f2/102', kind: 'update' },
      { path: 'f3/103', kind: 'delete' },
      { path: 'fresh/deep/er', kind: 'add' },
    ]);
    await write(dir, { 'fresh/deep/more': 'x', 'f1/.gitignore': '' });
    const two = await workspace.snapshot();
    expect((await workspace.changedPaths(one, two)).map(({ path }) => path)).toEqual([
      'f1/.gitignore',
      'f1/x.log',
      'fresh/deep/more',
    ]);
    expect(await workspace.restore(workspace.base.tree)).toBe(7);
    expect(git(dir, 'status', '--porcelain')).toBe('');
  });
});
