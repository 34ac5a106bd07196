import { execFileSync } from 'node:child_process';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder, createRepository, type Files, git, open, photograph, treeOf, write } from './repository.ts';

const FILES: Files = {
  'a.txt': 'a\n',
  'run.sh': { run: '#!/bin/sh\n' },
  'sub/b.txt': 'b\n',
  link: { link: 'a.txt' },
};
const COMMITTED = {
  'a.txt': '100644 a\n',
  link: '120000 a.txt',
  'run.sh': '100755 #!/bin/sh\n',
  'sub/b.txt': '100644 b\n',
};

describe('names, kinds and bytes', () => {
  const NAMES = [
    'with space',
    'new\nline',
    'tab\there',
    '"quoted"',
    "it's",
    'back\\slash',
    'ünï-日本-😀',
    '-dash',
    ':(top)x',
    '*',
    'x/ y',
  ];

  it('takes any UTF-8 name', async () => {
    const dir = await createRepository(Object.fromEntries(NAMES.map((name) => [name, `${name}\n`])));
    const { workspace } = await open(dir);
    await write(dir, Object.fromEntries(NAMES.map((name) => [name, `changed ${name}\n`])));
    const tree = await workspace.snapshot();
    const { files } = await workspace.diff(workspace.base.tree, tree);
    const lines = (name: string) => name.split('\n').length;
    expect([...files].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      [...NAMES].sort().map((path) => ({
        path,
        kind: 'update',
        added: path.includes('\n') ? 1 : lines(path),
        removed: path.includes('\n') ? 1 : lines(path),
        binary: false,
      })),
    );
    for (const name of NAMES) expect(String(await workspace.read(tree, name))).toBe(`changed ${name}\n`);
  });

  it('refuses a name that is not UTF-8', async () => {
    const dir = await createRepository(FILES);
    const { workspace } = await open(dir);
    await writeFile(Buffer.concat([Buffer.from(`${dir}/bad-`), Buffer.from([0xff])]), 'x');
    const refusal = {
      code: 'file_name',
      message: 'the file name "bad-\\xff" is not UTF-8: rename it, or keep it in a folder that .gitignore names',
    };
    await expect(workspace.snapshot()).rejects.toMatchObject(refusal);
    await expect(open(dir)).rejects.toMatchObject(refusal);
  });

  it('takes type changes between file, folder, link and executable', async () => {
    const dir = await createRepository({
      ...FILES,
      f2d: '1',
      'd2f/x': '2',
      f2l: '3',
      l2f: { link: 'a.txt' },
      'd2l/x': '4',
      l2d: { link: 'sub' },
    });
    const opened = await open(dir);
    const changed: Files = {
      'f2d/x': '1',
      d2f: '2',
      f2l: { link: 'sub' },
      l2f: '3',
      d2l: { link: 'sub' },
      'l2d/x': '4',
      'a.txt': { run: 'a\n' },
    };
    for (const name of ['f2d', 'l2d']) await rm(join(dir, name));
    await write(dir, changed);
    const tree = await opened.workspace.snapshot();
    expect(treeOf(opened, tree)).toEqual({
      ...COMMITTED,
      'a.txt': '100755 a\n',
      'f2d/x': '100644 1',
      d2f: '100644 2',
      f2l: '120000 sub',
      l2f: '100644 3',
      d2l: '120000 sub',
      'l2d/x': '100644 4',
    });
  });

  it('does not open a FIFO, and counts it as absent', async () => {
    const dir = await createRepository(FILES);
    const opened = await open(dir);
    await rm(join(dir, 'a.txt'));
    execFileSync('mkfifo', [join(dir, 'a.txt'), join(dir, 'pipe')]);
    const { 'a.txt': _, ...rest } = COMMITTED;
    expect(treeOf(opened, await opened.workspace.snapshot())).toEqual(rest);
    expect(treeOf(await open(dir), (await open(dir)).workspace.base.tree)).toEqual(rest);
  });

  it('does not convert line ends, idents or encodings that attributes ask for', async () => {
    const bytes = { 'crlf.txt': 'one\r\ntwo\r\n', 'ident.txt': '$Id$\n', 'wide.txt': Buffer.from('wide\n', 'utf16le') };
    const dir = await createRepository(FILES);
    const opened = await open(dir);
    await write(dir, {
      ...bytes,
      '.gitattributes': '* text=auto eol=lf ident\nwide.txt working-tree-encoding=UTF-16LE\n*.txt -diff\n',
    });
    const tree = await opened.workspace.snapshot();
    for (const [path, content] of Object.entries(bytes))
      expect(await opened.workspace.read(tree, path)).toEqual(Buffer.from(content));
    const out = await createFolder();
    await opened.workspace.checkout(tree, out);
    expect(await photograph(out)).toEqual(await photograph(dir));
  });

  it('refuses a `.git` that is a link, a bare repository and a store inside of the workspace', async () => {
    const dir = await createRepository(FILES);
    await expect(open(dir, { storeDir: join(dir, 'store') })).rejects.toMatchObject({ code: 'store_inside' });
    const elsewhere = join(await createFolder(), 'moved.git');
    await rename(join(dir, '.git'), elsewhere);
    await symlink(elsewhere, join(dir, '.git'));
    await expect(open(dir)).rejects.toMatchObject({ code: 'git_is_a_link' });
    const bare = await createRepository(FILES);
    git(bare, 'config', 'core.bare', 'true');
    await expect(open(bare)).rejects.toMatchObject({ code: 'bare_repository' });
    await expect(open(join(dir, 'missing'))).rejects.toMatchObject({ code: 'workspace_missing' });
  });
});
