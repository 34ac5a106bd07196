import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Workspace } from '../../src/workspace/index.ts';
import { createFolder, createRepository, git, open, photograph, stateOf, write } from './repository.ts';

describe('a sparse checkout', () => {
  let dir: string;
  let storeDir: string;
  let workspace: Workspace;
  beforeEach(async () => {
    dir = await createRepository({ 'a.txt': 'a\n', 'src/b.txt': 'b\n', 'docs/x': 'x\n', 'docs/z': 'z\n' });
    git(dir, 'sparse-checkout', 'set', 'src');
    ({ workspace, storeDir } = await open(dir));
  });
  const changed = async () => (await workspace.changedPaths(workspace.base.tree, await workspace.snapshot())).length;

  it('keeps what it leaves out, and does not write it', async () => {
    const before = await stateOf(dir);
    expect(workspace.base).toMatchObject({ dirty: false, tree: git(dir, 'rev-parse', 'HEAD^{tree}') });
    await write(dir, { 'src/b.txt': 'changed\n', 'docs/x': 'agent\n', 'docs/empty': null });
    const agents = await workspace.snapshot();
    expect(await workspace.changedPaths(workspace.base.tree, agents)).toEqual([
      { path: 'docs/x', kind: 'update' },
      { path: 'src/b.txt', kind: 'update' },
    ]);
    await workspace.restore(workspace.base.tree);
    expect([existsSync(join(dir, 'docs')), await workspace.snapshot()]).toEqual([false, workspace.base.tree]);
    await workspace.restore(agents);
    expect(await readFile(join(dir, 'docs/x'), 'utf8')).toBe('agent\n');
    await workspace.restore(workspace.base.tree);
    expect(await stateOf(dir)).toEqual(before);
  });

  it.each([
    ['the file itself', { 'docs/x': 'agent\n' }],
    ['a file in the place of its folder', { docs: 'agent\n' }],
    ['an empty folder in its place', { 'docs/x': null }],
    ['a folder with a file in its place', { 'docs/x/y': 'agent\n' }],
  ])('has no removal of it once what came has gone again: %s', async (_, files) => {
    await write(dir, files);
    expect(await changed()).toBeGreaterThan(0);
    await rm(join(dir, 'docs'), { recursive: true });
    expect([await changed(), await workspace.snapshot()]).toEqual([0, workspace.base.tree]);
  });

  it.each([true, false])('loses nothing outside by a link in the place of a folder (ignored: %s)', async (ignored) => {
    const outside = await createFolder();
    await write(outside, { x: 'mine\n', 'z/deep': 'mine\n', y: 'mine\n' });
    if (ignored) await write(dir, { '.gitignore': '/docs\n' });
    await symlink(outside, join(dir, 'docs'));
    await workspace.snapshot();
    await workspace.restore(workspace.base.tree);
    expect([(await readdir(outside)).sort(), await readdir(join(outside, 'z'))]).toEqual([['x', 'y', 'z'], ['deep']]);
    expect(Object.keys(await photograph(dir))).toEqual(['a.txt', 'src', 'src/b.txt']);
  });

  it('that its user has widened since is as it is now', async () => {
    await workspace.close();
    git(dir, 'sparse-checkout', 'disable');
    ({ workspace } = await open(dir, { storeDir, resumed: true }));
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
    await rm(join(dir, 'docs/x'));
    expect(await workspace.changedPaths(workspace.base.tree, await workspace.snapshot())).toEqual([
      { path: 'docs/x', kind: 'delete' },
    ]);
    await write(dir, { 'docs/z': 'agent\n' });
    await workspace.restore(workspace.base.tree);
    expect(git(dir, 'status', '--porcelain')).toBe('');
    const laid = join(await createFolder(), 'laid');
    await mkdir(laid);
    await workspace.checkout(workspace.base.tree, laid);
    expect(existsSync(join(laid, 'docs/x'))).toBe(true);
  });
});

it('a file that its user marks as not to be looked at (skip-worktree, assume-unchanged) is seen to go, and comes back', async () => {
  const dir = await createRepository({ a: 'a\n', b: 'b\n', c: 'c\n' });
  git(dir, 'update-index', '--skip-worktree', 'a', 'b');
  git(dir, 'update-index', '--assume-unchanged', 'b', 'c');
  // An index that needs nothing written.
  git(dir, 'commit', '-q', '--allow-empty', '-m', 'again');
  const [before, state] = [await photograph(dir), await stateOf(dir)];
  const { workspace } = await open(dir);
  for (const path of ['a', 'b', 'c']) await rm(join(dir, path));
  const changes = await workspace.changedPaths(workspace.base.tree, await workspace.snapshot());
  expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual(['delete a', 'delete b', 'delete c']);
  await workspace.restore(workspace.base.tree);
  expect([await photograph(dir), await stateOf(dir)]).toEqual([before, state]);
});
