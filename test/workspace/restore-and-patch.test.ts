import { chmod, lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commit,
  createFolder,
  createRepository,
  type Files,
  git,
  gitBytes,
  open,
  photograph,
  write,
} from './repository.ts';

const BINARY = Buffer.from(Array.from({ length: 600 }, (_, at) => (at * 37) % 256));
const START: Files = {
  '.gitignore': 'ignored/\n',
  'a.txt': 'one\ntwo\nthree\n',
  'crlf.txt': 'one\r\ntwo\r\n',
  'no-end.txt': 'no end',
  'empty.txt': '',
  'gone.txt': 'gone\n',
  'data.bin': BINARY,
  'run.sh': { run: '#!/bin/sh\n' },
  'sub/deep/b.txt': 'b\n',
  link: { link: 'a.txt' },
};

describe('restore', () => {
  it('brings back every byte, mode and folder after arbitrary edits, and leaves ignored files', async () => {
    const dir = await createRepository(START);
    await write(dir, { 'mine.txt': 'uncommitted\n', 'private.txt': 'p', hollow: null, 'ignored/cache': 'before' });
    await chmod(join(dir, 'private.txt'), 0o600);
    const { workspace } = await open(dir);
    const before = await photograph(dir);

    for (const path of ['a.txt', 'hollow', 'mine.txt']) await rm(join(dir, path), { recursive: true });
    await rename(join(dir, 'sub'), join(dir, 'moved'));
    await write(dir, {
      'a.txt/now/a/folder': 'x',
      sub: 'now a file',
      hollow: { link: 'sub' },
      link: 'now a file',
      'run.sh': '#!/bin/sh\n',
      'empty.txt': { run: 'x' },
      'private.txt': 'agent',
      'data.bin': Buffer.from([0]),
      'agent/hollow/folders': null,
      '.gitignore': 'moved/\n',
      'ignored/cache': 'after',
    });
    await chmod(join(dir, 'crlf.txt'), 0o000);
    const files = await workspace.restore(workspace.base.tree);
    expect(files).toBeGreaterThan(8);
    expect(await photograph(dir)).toEqual({ ...before, 'ignored/cache': '644 after', 'crlf.txt': expect.any(String) });
    expect(await readFile(join(dir, 'crlf.txt'), 'utf8')).toBe('one\r\ntwo\r\n');
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
    expect(await workspace.restore(workspace.base.tree)).toBe(0);
  });

  it('goes forward to a later snapshot as well', async () => {
    const dir = await createRepository(START);
    await write(dir, { hollow: null, 'deep/hollow': null });
    const { workspace } = await open(dir);
    await rm(join(dir, 'deep'), { recursive: true });
    await write(dir, {
      'a.txt': 'changed\n',
      'new/c.txt': { run: 'c' },
      hollow: 'a file now\n',
      deep: { link: 'sub' },
    });
    const after = await photograph(dir);
    const tree = await workspace.snapshot();
    expect(await workspace.restore(workspace.base.tree)).toBe(4);
    expect((await photograph(dir))['deep/hollow']).toBe('folder');
    expect(await workspace.restore(tree)).toBe(4);
    expect(await photograph(dir)).toEqual(after);
  });

  it('neither writes nor deletes through a link that leads outside', async () => {
    const dir = await createRepository(START);
    const outside = await createFolder();
    await write(outside, { 'deep/b.txt': 'outside\n', 'deep/new.txt': 'outside\n', 'a.txt': 'outside\n' });
    const { workspace } = await open(dir);
    const before = await photograph(dir);
    await write(dir, { 'sub/deep/new.txt': 'agent\n', 'other/a.txt': 'agent\n' });
    const middle = await workspace.snapshot();
    const kept = await photograph(outside);
    for (const path of ['sub', 'other']) {
      await rm(join(dir, path), { recursive: true });
      await symlink(outside, join(dir, path));
    }
    await rm(join(dir, 'a.txt'));
    await symlink(join(outside, 'a.txt'), join(dir, 'a.txt'));
    await workspace.restore(middle);
    expect(await photograph(outside)).toEqual(kept);
    for (const path of ['sub', 'other']) {
      await rm(join(dir, path), { recursive: true });
      await symlink(outside, join(dir, path));
    }
    await workspace.restore(workspace.base.tree);
    expect(await photograph(outside)).toEqual(kept);
    expect(await photograph(dir)).toEqual(before);
  });

  it('takes away repositories that the agent planted, and keeps those of the start', async () => {
    const dir = await createRepository(START);
    git(dir, 'init', '-q', 'own');
    await write(dir, { 'own/x.txt': 'x' });
    const { workspace } = await open(dir);
    const before = await photograph(dir);
    git(dir, 'init', '-q', 'sub/planted');
    await write(dir, { 'sub/planted/x.txt': 'x' });
    commit(join(dir, 'sub/planted'));
    await workspace.restore(workspace.base.tree);
    expect(await photograph(dir)).toEqual(before);
    expect((await lstat(join(dir, 'own/.git'))).isDirectory()).toBe(true);
  });

  it('keeps what was ignored at the start out, whatever becomes of the ignore rules', async () => {
    const dir = await createRepository(START);
    await write(dir, { 'ignored/cache': 'mine' });
    const { workspace } = await open(dir);
    await write(dir, { '.gitignore': '' });
    expect(await workspace.changedPaths(workspace.base.tree, await workspace.snapshot())).toEqual([
      { path: '.gitignore', kind: 'update' },
    ]);
    await workspace.restore(workspace.base.tree);
    expect(await readFile(join(dir, 'ignored/cache'), 'utf8')).toBe('mine');
  });

  it('takes up the start of an earlier run, whatever the folder looks like now', async () => {
    const dir = await createRepository(START);
    await write(dir, { 'mine.txt': 'uncommitted\n' });
    const first = await open(dir);
    const before = await photograph(dir);
    await write(dir, { 'a.txt': 'agent\n', 'mine.txt': 'agent\n' });
    await first.workspace.close();
    const { workspace } = await open(dir, { storeDir: first.storeDir, resumed: true });
    expect(workspace.base).toEqual(first.workspace.base);
    await workspace.restore(workspace.base.tree);
    expect(await photograph(dir)).toEqual(before);
    await expect(open(dir, { resumed: true })).rejects.toMatchObject({ code: 'no_snapshots' });
  });
});

describe('a patch', () => {
  const CHANGED: Files = {
    'a.txt': 'one\n2\nthree\n',
    'crlf.txt': 'one\r\nzwei\r\n',
    'no-end.txt': 'still no end',
    'empty.txt': 'full\n',
    'new-empty.txt': '',
    'data.bin': Buffer.concat([BINARY, BINARY.subarray(0, 99)]),
    'new.bin': Buffer.from([0, 255, 10, 0]),
    'run.sh': '#!/bin/sh\n',
    'sub/deep/b.txt': { run: 'b\n' },
    link: { link: 'sub' },
    'new folder/ü "q".txt': 'new\n',
  };

  it('is taken by plain `git apply` on a fresh clone and gives the same tree', async () => {
    const dir = await createRepository(START);
    const { workspace } = await open(dir);
    await write(dir, CHANGED);
    await rm(join(dir, 'gone.txt'));
    const tree = await workspace.snapshot();
    const { files, patch, sha256 } = await workspace.diff(workspace.base.tree, tree);
    const text = (added: number, removed: number) => ({ added, removed, binary: false });
    expect(Object.fromEntries(files.map(({ path, ...rest }) => [path, rest]))).toEqual({
      'a.txt': { kind: 'update', ...text(1, 1) },
      'crlf.txt': { kind: 'update', ...text(1, 1) },
      'data.bin': { kind: 'update', added: 0, removed: 0, binary: true },
      'empty.txt': { kind: 'update', ...text(1, 0) },
      'gone.txt': { kind: 'delete', ...text(0, 1) },
      link: { kind: 'update', ...text(1, 1) },
      'new folder/ü "q".txt': { kind: 'add', ...text(1, 0) },
      'new-empty.txt': { kind: 'add', ...text(0, 0) },
      'new.bin': { kind: 'add', added: 0, removed: 0, binary: true },
      'no-end.txt': { kind: 'update', ...text(1, 1) },
      'run.sh': { kind: 'update', ...text(0, 0) },
      'sub/deep/b.txt': { kind: 'update', ...text(0, 0) },
    });
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);

    const clone = join(await createFolder(), 'clone');
    git(dir, 'clone', '-q', dir, clone);
    gitBytes(clone, ['apply', '-'], patch);
    expect(await photograph(clone)).toEqual(await photograph(dir));
    git(clone, 'add', '-A');
    expect(git(clone, 'write-tree')).toBe(tree);

    expect(await workspace.proves(patch, tree)).toBe(true);
    expect(await workspace.proves(patch, workspace.base.tree)).toBe(false);
    expect(await workspace.proves(patch, tree, tree)).toBe(false);
    expect(await workspace.proves(Buffer.alloc(0), tree)).toBe(false);
    expect(await workspace.proves(Buffer.alloc(0), workspace.base.tree)).toBe(true);
    const other = Buffer.from(patch.toString('latin1').replace('+zwei', '+drei'), 'latin1');
    expect(await workspace.proves(other, tree)).toBe(false);
  });

  it('of no change is empty', async () => {
    const { workspace } = await open(await createRepository(START));
    const { base } = workspace;
    expect(await workspace.diff(base.tree, base.tree)).toMatchObject({ files: [], patch: Buffer.alloc(0) });
  });
});

describe('trees', () => {
  it('can be mixed, listed and read without touching the folder', async () => {
    const dir = await createRepository(START);
    const { workspace } = await open(dir);
    const { base } = workspace;
    await rm(join(dir, 'gone.txt'));
    await write(dir, { 'a.txt': 'agent\n', 'sub/deep/b.txt': 'agent\n', 'sub/new.txt': 'agent\n', 'gone.txt/x': 'x' });
    const before = await photograph(dir);
    const tree = await workspace.snapshot();
    const mixed = await workspace.withPathsOf(tree, base.tree, ['sub/', 'gone.txt', 'no-such']);
    expect(await workspace.changedPaths(base.tree, mixed)).toEqual([{ path: 'a.txt', kind: 'update' }]);
    expect(await workspace.changedPaths(mixed, tree)).toEqual([
      { path: 'gone.txt', kind: 'delete' },
      { path: 'gone.txt/x', kind: 'add' },
      { path: 'sub/deep/b.txt', kind: 'update' },
      { path: 'sub/new.txt', kind: 'add' },
    ]);
    expect(await workspace.withPathsOf(mixed, tree, ['sub', 'gone.txt'])).toBe(tree);
    expect(await workspace.list(tree)).toEqual([
      '.gitignore',
      'a.txt',
      'crlf.txt',
      'data.bin',
      'empty.txt',
      'gone.txt/x',
      'link',
      'no-end.txt',
      'run.sh',
      'sub/deep/b.txt',
      'sub/new.txt',
    ]);
    expect(
      await Promise.all(
        ['a.txt', 'link', 'sub', 'no-such', '', '../a.txt', '/etc/passwd'].map((path) => workspace.read(tree, path)),
      ),
    ).toEqual([Buffer.from('agent\n'), Buffer.from('a.txt'), null, null, null, null, null]);
    expect(await workspace.read('HEAD', 'a.txt')).toEqual(Buffer.from('one\ntwo\nthree\n'));
    await expect(workspace.read(tree, 'data.bin', { maxBytes: 599 })).rejects.toMatchObject({ code: 'too_large' });
    expect(await workspace.read(tree, 'data.bin', { maxBytes: 600 })).toEqual(BINARY);
    expect(await photograph(dir)).toEqual(before);
  });

  it('are laid out byte for byte in an empty folder', async () => {
    const dir = await createRepository(START);
    const { workspace } = await open(dir);
    const out = join(await createFolder(), 'out');
    await workspace.checkout(workspace.base.tree, out);
    expect(await photograph(out)).toEqual(await photograph(dir));
  });

  it('of snapshots taken at once are each whole', async () => {
    const dir = await createRepository(START);
    const { workspace } = await open(dir);
    await mkdir(join(dir, 'many'));
    await Promise.all(Array.from({ length: 20 }, (_, at) => writeFile(join(dir, 'many', `${at}`), `${at}`)));
    const trees = await Promise.all([workspace.snapshot(), workspace.snapshot(), workspace.snapshot()]);
    expect(new Set(trees).size).toBe(1);
    expect(await workspace.list(trees[0])).toHaveLength(30);
  });
});
