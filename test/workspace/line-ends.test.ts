import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commit,
  createFolder,
  createRepository,
  git,
  gitBytes,
  open,
  photograph,
  treeOf,
  write,
} from './repository.ts';

const ATTRIBUTES = '*.bat text eol=crlf\n*.rc working-tree-encoding=UTF-16LE\n*.c ident\n';
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le');

/** As a checkout leaves them on disk: CRLF, UTF-16 and an expanded `$Id$`. */
const createConverted = async (): Promise<string> => {
  const dir = await createRepository({ '.gitattributes': ATTRIBUTES });
  await write(dir, {
    'sub/[a] "b".bat': 'one\r\ntwo\r\n',
    'w.rc': wide('wide\n'),
    'i.c': '/* $Id$ */\n',
    plain: 'x\r\n',
  });
  commit(dir);
  for (const path of ['sub/[a] "b".bat', 'w.rc', 'i.c']) await rm(join(dir, path));
  git(dir, 'checkout', '-q', '.');
  return dir;
};

describe('files that git stores otherwise than they lie on disk', () => {
  it('a clean start is clean, also where the user’s index is of no use', async () => {
    const dir = await createConverted();
    expect(await readFile(join(dir, 'sub/[a] "b".bat'), 'utf8')).toBe('one\r\ntwo\r\n');
    expect((await open(dir)).workspace.base).toMatchObject({
      dirty: false,
      tree: git(dir, 'rev-parse', 'HEAD^{tree}'),
    });
    await writeFile(join(dir, '.git/index'), 'broken');
    expect((await open(dir)).workspace.base).toMatchObject({
      dirty: false,
      tree: git(dir, 'rev-parse', 'HEAD^{tree}'),
    });
  });

  it('a change to one of their lines is a change of one line, and restore writes what a checkout writes', async () => {
    const dir = await createConverted();
    const opened = await open(dir);
    const { workspace } = opened;
    const before = await photograph(dir);
    await write(dir, {
      'sub/[a] "b".bat': 'one\r\nzwei\r\n',
      'w.rc': wide('weit\n'),
      'new.bat': 'x\r\n',
      '.gitattributes': '',
    });
    const tree = await workspace.snapshot();
    expect(treeOf(opened, tree)).toMatchObject({
      'sub/[a] "b".bat': '100644 one\nzwei\n',
      'w.rc': '100644 weit\n',
      'new.bat': '100644 x\r\n',
      plain: '100644 x\r\n',
    });
    const { files, patch } = await workspace.diff(workspace.base.tree, tree);
    expect(files.find(({ path }) => path.startsWith('sub'))).toEqual({
      path: 'sub/[a] "b".bat',
      kind: 'update',
      added: 1,
      removed: 1,
      binary: false,
    });
    const clone = await createFolder();
    git(dir, 'clone', '-q', dir, clone);
    gitBytes(clone, ['apply', '--whitespace=nowarn', '-'], patch);
    expect(await readFile(join(clone, 'sub/[a] "b".bat'), 'utf8')).toBe('one\r\nzwei\r\n');
    const room = join(await createFolder(), 'room');
    await workspace.checkout(tree, room);
    expect(await photograph(room)).toEqual(await photograph(dir));
    await workspace.restore(workspace.base.tree);
    expect(await photograph(dir)).toEqual(before);
    expect(git(dir, 'status', '--porcelain')).toBe('');
  });

  it('core.autocrlf of the user’s repository is honoured', async () => {
    const dir = await createRepository({ a: 'one\ntwo\n' });
    git(dir, 'config', 'core.autocrlf', 'true');
    await rm(join(dir, 'a'));
    git(dir, 'checkout', '-q', '.');
    const { workspace } = await open(dir);
    await write(dir, { a: 'one\r\nzwei\r\n' });
    const { files } = await workspace.diff(workspace.base.tree, await workspace.snapshot());
    expect([workspace.base.dirty, files]).toEqual([
      false,
      [{ path: 'a', kind: 'update', added: 1, removed: 1, binary: false }],
    ]);
    await workspace.restore(workspace.base.tree);
    expect(await readFile(join(dir, 'a'), 'utf8')).toBe('one\r\ntwo\r\n');
  });

  it('attributes that the agent writes convert nothing and hide no line', async () => {
    const dir = await createRepository({ a: 'one\r\n', b: 'x\n' });
    const { workspace } = await open(dir);
    await write(dir, { '.gitattributes': '* text=auto eol=lf\n* -diff\n', a: 'two\r\n', b: 'y\nz\n' });
    const { files } = await workspace.diff(workspace.base.tree, await workspace.snapshot());
    expect(files.filter(({ path }) => path !== '.gitattributes')).toEqual([
      { path: 'a', kind: 'update', added: 1, removed: 1, binary: false },
      { path: 'b', kind: 'update', added: 2, removed: 1, binary: false },
    ]);
  });
});
