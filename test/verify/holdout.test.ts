import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { layHoldout } from '../../src/verify/holdout.ts';
import { findHoldouts } from '../../src/verify/index.ts';
import { makeRealFolder } from '../../src/verify/real-folder.ts';
import { removeTree } from '../../src/verify/remove-tree.ts';
import { type Files, tempFolder } from './support.ts';

const folders: ReturnType<typeof tempFolder>[] = [];
const temp = (files: Files = {}) => {
  const folder = tempFolder(files);
  folders.push(folder);
  return folder.dir;
};
afterEach(() => {
  for (const folder of folders.splice(0)) folder.dispose();
});

describe('holdout', () => {
  it('finds files and folders beside the policy, and tells which of them the agent could see', async () => {
    const root = temp({ 'held/in.sh': 'x' });
    const beside = temp({ 'one.sh': 'x', 'many/two.sh': 'x' });
    const from = (name: string) => path.join(beside, name);
    expect(
      await findHoldouts(
        [
          { from: from('one.sh'), to: 'test/' },
          { from: `${from('many')}/**`, to: 'many/**' },
          { from: 'held', to: 'held' },
        ],
        { policyDir: root, root },
      ),
    ).toEqual({
      overlays: [
        { from: from('one.sh'), to: 'test/one.sh' },
        { from: from('many'), to: 'many' },
        { from: path.join(root, 'held'), to: 'held' },
      ],
      insideWorkspace: [path.join(root, 'held')],
    });
  });

  it('is a usage error when the source is missing or the target is outside', async () => {
    const where = { policyDir: temp({ 'a.sh': 'x' }), root: temp() };
    await expect(findHoldouts([{ from: 'gone.sh', to: 'x' }], where)).rejects.toThrow(UsageError);
    await expect(findHoldouts([{ from: 'a.sh', to: '../x' }], where)).rejects.toThrow(UsageError);
    await expect(findHoldouts([{ from: 'a.sh', to: '/etc/x' }], where)).rejects.toThrow(UsageError);
  });

  it('replaces what is in the way and keeps the rest', async () => {
    const from = temp({ 'a.sh': 'new', 'sub/b.sh': 'new' });
    chmodSync(path.join(from, 'a.sh'), 0o755);
    const room = temp({ 'test/a.sh': 'old', 'test/c.sh': 'kept', 'test/sub': 'a file' });
    await layHoldout({ from, to: 'test' }, room);
    const read = (name: string) => readFileSync(path.join(room, name), 'utf8');
    expect([read('test/a.sh'), read('test/c.sh'), read('test/sub/b.sh')]).toEqual(['new', 'kept', 'new']);
    expect(statSync(path.join(room, 'test/a.sh')).mode & 0o777).toBe(0o755);
  });

  it('never writes through a link of the tree', async () => {
    const from = temp({ 'a.sh': 'new', 'sub/b.sh': 'new' });
    const outside = temp({ 'precious.txt': 'mine' });
    const room = temp();
    mkdirSync(path.join(room, 'test'));
    symlinkSync(path.join(outside, 'precious.txt'), path.join(room, 'test/a.sh'));
    symlinkSync(outside, path.join(room, 'test/sub'));
    await layHoldout({ from, to: 'test' }, room);
    expect([readdirSync(outside), readFileSync(path.join(outside, 'precious.txt'), 'utf8')]).toEqual([
      ['precious.txt'],
      'mine',
    ]);
    expect(readFileSync(path.join(room, 'test/sub/b.sh'), 'utf8')).toBe('new');
  });
});

describe('real-folder', () => {
  it('makes folders below its root alone', async () => {
    const root = temp({ a: 'a file' });
    expect(await makeRealFolder(root, 'a/b')).toBe(path.join(root, 'a/b'));
    expect(statSync(path.join(root, 'a/b')).isDirectory()).toBe(true);
    await expect(makeRealFolder(root, 'a/../../x')).rejects.toThrow(RangeError);
    await expect(makeRealFolder(root, '/x')).rejects.toThrow(RangeError);
  });
});

describe('remove-tree', () => {
  it('removes folders that may not be written, and what is not there', async () => {
    const root = temp({ 'room/deep/er/file': 'x' });
    chmodSync(path.join(root, 'room/deep/er'), 0o500);
    chmodSync(path.join(root, 'room/deep'), 0o500);
    await removeTree(path.join(root, 'room'));
    await removeTree(path.join(root, 'room'));
    expect(existsSync(path.join(root, 'room'))).toBe(false);
  });
});
