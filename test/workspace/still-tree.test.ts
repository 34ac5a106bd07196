import { lstatSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStillTree, type GitLook } from '../../src/workspace/still-tree.ts';
import { createFolder, type Entry, type Files, git, photograph, write } from './repository.ts';

/** As if the look had begun long after the last change. */
const LATER: GitLook = { beganAtMs: Date.now() + 3_600_000, ignored: [], nested: [] };

/** Until the clock of the file system has gone on: a change from here on has another time stamp. */
const nextTick = (root: string): void => {
  const probe = join(root, '.git', 'probe');
  const stamp = () => {
    writeFileSync(probe, '');
    return lstatSync(probe).ctimeMs;
  };
  for (const first = stamp(); stamp() === first; );
};

const treeOf = async (files: Files, about: { submodules?: string[]; entries?: number } = {}) => {
  const root = await createFolder();
  await write(root, { '.git/HEAD': '', ...files });
  nextTick(root);
  return { root, still: createStillTree({ root, entries: 1, submodules: [], ...about }) };
};

const FILES: Files = { a: 'a\n', 'dir/b': 'b\n', 'dir/sub/c': { run: 'c\n' }, link: { link: 'a' } };

describe('a small tree that git has looked at', () => {
  it('is as it was seen, until a file of it changes in any way', async () => {
    const changes: Record<string, (root: string) => Promise<unknown>> = {
      'same size': (root) => writeFile(join(root, 'dir/b'), 'B\n'),
      'same size and time': async (root) => {
        await writeFile(join(root, 'a'), 'A\n');
        await utimes(join(root, 'a'), 1, 1);
      },
      mode: (root) => chmod(join(root, 'a'), 0o755),
      link: (root) => write(root, { link: { link: 'b' } }),
      'new file': (root) => write(root, { 'dir/sub/d': '' }),
      'new folder': (root) => mkdir(join(root, 'dir/e')),
      moved: (root) => rename(join(root, 'dir/b'), join(root, 'dir/z')),
      'a link for a folder': async (root) => {
        await rename(join(root, 'dir'), join(root, '.git/dir'));
        await write(root, { dir: { link: '.git/dir' } });
      },
      'a repository in a folder': (root) => mkdir(join(root, 'dir/.git')),
    };
    const seen: Record<string, boolean> = {};
    for (const [name, change] of Object.entries(changes)) {
      const { root, still } = await treeOf(FILES);
      await utimes(join(root, 'a'), 1, 1);
      nextTick(root);
      still.see(LATER);
      expect(still.isAsSeen()).toBe(true);
      await change(root);
      seen[name] = still.isAsSeen();
    }
    expect(seen).toEqual(Object.fromEntries(Object.keys(changes).map((name) => [name, false])));
  });

  it('differs after any edits that leave another tree', async () => {
    const paths = fc.constantFrom('a', 'b', 'dir', 'dir/b', 'dir/sub/c', 'link', 'new/x');
    const entries = fc.constantFrom<Entry>('a\n', 'b\n', '', { run: 'c\n' }, { link: 'a' }, null);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(paths, entries), { maxLength: 3 }), async (edits) => {
        const { root, still } = await treeOf({ b: 'b', 'dir/b': 'b\n', 'dir/sub/c': 'c\n' });
        still.see(LATER);
        const before = await photograph(root);
        for (const [path, entry] of edits) {
          const shot = await photograph(root);
          const kinds = path.split('/').map((_, at, parts) => shot[parts.slice(0, at).join('/')] ?? 'folder');
          if (kinds.every((kind) => kind === 'folder')) await write(root, { [path]: entry });
        }
        const isSame = JSON.stringify(await photograph(root)) === JSON.stringify(before);
        // What was written anew with the same bytes may count as a change; a change never as none.
        if (!isSame) expect(still.isAsSeen()).toBe(false);
        if (edits.length === 0) expect(still.isAsSeen()).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('is not trusted where something changed so shortly before that a second change could look the same', async () => {
    const { root, still } = await treeOf(FILES);
    await writeFile(join(root, 'a'), 'b\n');
    still.see({ ...LATER, beganAtMs: Date.now() });
    expect(still.isAsSeen()).toBe(false);
  });

  it('is not trusted after a name came or went so shortly before that git may have missed it', async () => {
    const { root, still } = await treeOf({ 'dir/b': 'b' });
    await mkdir(join(root, 'dir/new'));
    still.see({ ...LATER, beganAtMs: Date.now() });
    expect(still.isAsSeen()).toBe(false);
  });

  it('is the same whatever happens in ignored folders and submodules, and another one when one of them is no folder any more', async () => {
    const { root, still } = await treeOf(
      { '.gitignore': 'out\n*.log\n', 'out/x': '', 'a.log': '', 'module/m': '' },
      { submodules: ['module'] },
    );
    still.see({ ...LATER, ignored: ['out', 'a.log'] });
    await write(root, { 'out/y': '', 'module/.git': '', 'a.log': 'more' });
    expect(still.isAsSeen()).toBe(true);
    await write(root, { 'a.log': null });
    expect(still.isAsSeen()).toBe(false);
    still.see({ ...LATER, ignored: ['out', 'a.log'] });
    await write(root, { '.gitignore': '' });
    expect(still.isAsSeen()).toBe(false);
  });

  it('is left to git where it is large, holds a repository, or is forgotten', async () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}`, '']));
    const large = await treeOf(many);
    large.still.see(LATER);
    expect([large.still.isAsSeen(), large.still.isSmall]).toEqual([false, false]);
    const indexed = await treeOf({}, { entries: 1001 });
    indexed.still.see(LATER);
    expect([indexed.still.isAsSeen(), indexed.still.isSmall]).toEqual([false, false]);
    const nested = await treeOf({ a: '' });
    git('/', 'init', '-q', join(nested.root, 'sub'));
    nested.still.see({ ...LATER, nested: ['sub'] });
    expect(nested.still.isAsSeen()).toBe(false);
    const { still } = await treeOf(FILES);
    still.see(LATER);
    still.forget();
    expect(still.isAsSeen()).toBe(false);
  });
});
