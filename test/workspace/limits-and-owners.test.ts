import { chown, lchown, lstat, readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder, createRepository, open, photograph, write } from './repository.ts';

describe('a patch that is too large', () => {
  it('is refused by the size of its binary contents, before git reads them', async () => {
    const dir = await createRepository({ a: 'a' });
    const { workspace } = await open(dir, { maxPatchBytes: 100_000 });
    await write(dir, { huge: '', zero: Buffer.from([0]) });
    await truncate(join(dir, 'huge'), 100_001);
    const tree = await workspace.snapshot();
    await expect(workspace.diff(workspace.base.tree, tree)).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('huge'),
    });
    await truncate(join(dir, 'huge'), 99_000);
    expect(
      (await workspace.diff(workspace.base.tree, await workspace.snapshot())).files.map(({ path, binary }) => [
        path,
        binary,
      ]),
    ).toEqual([
      ['huge', true],
      ['zero', true],
    ]);
  });

  it('is refused by its own size when it is text', async () => {
    const dir = await createRepository({ a: 'a' });
    const { workspace } = await open(dir, { maxPatchBytes: 10_000 });
    await write(dir, { long: 'line\n'.repeat(3000) });
    const tree = await workspace.snapshot();
    await expect(workspace.diff(workspace.base.tree, tree)).rejects.toMatchObject({ code: 'too_large' });
    expect(await workspace.changedPaths(workspace.base.tree, tree)).toEqual([{ path: 'long', kind: 'add' }]);
    await workspace.restore(workspace.base.tree);
    expect(Object.keys(await photograph(dir))).toEqual(['a']);
  });
});

describe('the folder’s owner', () => {
  const OTHER = 12_345;
  const giveAll = async (path: string): Promise<void> => {
    await lchown(path, OTHER, OTHER);
    if ((await lstat(path)).isDirectory()) for (const name of await readdir(path)) await giveAll(join(path, name));
  };

  it.skipIf(process.geteuid?.() !== 0)('gets the files and folders that a root harness restores', async () => {
    const dir = await createRepository({ 'sub/deep/a': 'a', 'sub/link': { link: 'deep' }, b: 'b' });
    await write(dir, { hollow: null });
    await giveAll(dir);
    const { workspace } = await open(dir);
    for (const name of ['sub', 'b', 'hollow']) await rm(join(dir, name), { recursive: true });
    await workspace.restore(workspace.base.tree);
    const paths = ['sub', 'sub/deep', 'sub/deep/a', 'sub/link', 'b', 'hollow'];
    const owners = await Promise.all(paths.map(async (path) => (await lstat(join(dir, path))).uid));
    expect(owners).toEqual(paths.map(() => OTHER));
    await chown(dir, 0, 0);
  });
});

it('nothing stays in the state folder but the store', async () => {
  const dir = await createRepository({ a: 'a' });
  const { workspace, storeDir } = await open(dir);
  await write(dir, { a: 'b' });
  const tree = await workspace.snapshot();
  const { patch } = await workspace.diff(workspace.base.tree, tree);
  await workspace.proves(patch, tree);
  await workspace.withPathsOf(tree, workspace.base.tree, ['a']);
  await (await workspace.checkout(tree, join(await createFolder(), 'out'))).close();
  await workspace.restore(workspace.base.tree);
  expect(await readdir(join(storeDir, 'store.git/scratch'))).toEqual([]);
  await workspace.close();
  expect(await readdir(storeDir)).toEqual(['store.git']);
});
