import { isUtf8 } from 'node:buffer';
import { rm } from 'node:fs/promises';
import { type Git, gitFailure, splitNul } from './git.ts';
import { statBelow } from './stat-below.ts';
import type { Store } from './store.ts';
import { ancestors, textPath } from './text-path.ts';

export interface IndexFacts {
  /** Paths of submodules: their contents are no part of a snapshot. */
  submodules: readonly string[];
  /** Paths that a sparse checkout leaves out. */
  absent: readonly string[];
  /** Tracked `.gitattributes` files. */
  attributeFiles: readonly string[];
  entries: number;
  /** Of the entries, without the root. */
  folders: readonly string[];
}

const SUBMODULE = '160000';
const PLAIN_FILE = 'H 100';

/**
 * Makes the copied index fit for us: what it marks as `assume unchanged` is looked at again, and so is what it marks as `skip worktree` and
 * is there. (git passes over that mark for a look, and keeps it in the index: once the file is gone, nobody would see that.) An index that
 * this git cannot read gives way to the entries of `head` (or to none).
 */
export const prepareIndex = async (
  git: Git,
  { root, store, head }: { root: string; store: Store; head: string | null },
): Promise<IndexFacts> => {
  // With that mark as it is written.
  const listing = ['-c', 'core.sparseCheckout=false', 'ls-files', '-s', '-v', '-z'];
  let listed = await git.call(listing);
  if (listed.code !== 0) {
    await rm(store.indexFile, { force: true });
    if (head !== null) await git.run(['read-tree', head]);
    listed = await git.call(listing);
    if (listed.code !== 0) throw gitFailure(listing, listed);
  }
  const submodules: string[] = [];
  const skipped: string[] = [];
  const unwatched: string[] = [];
  const attributeFiles: string[] = [];
  const folders = new Set<string>();
  /** The same for most entries as for the one before. */
  let above = '';
  let entries = 0;
  // One text for all: 100,000 small buffers would cost as much as git itself.
  const text = isUtf8(listed.stdout)
    ? listed.stdout.toString('utf8')
    : splitNul(listed.stdout).map(textPath).join('\0');
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\0', start);
    const isPlain = text.startsWith(PLAIN_FILE, start);
    const tab = text.indexOf('\t', start);
    const path = text.slice(tab + 1, end);
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (folder !== above) {
      above = folder;
      for (const each of [...ancestors(folder), folder]) folders.add(each);
    }
    if (!isPlain) {
      const [tag = '', mode] = text.slice(start, tab).split(' ');
      if (mode === SUBMODULE) submodules.push(path);
      // `S`: skip-worktree; a small letter: assume-unchanged as well.
      if (tag.toUpperCase() === 'S') skipped.push(path);
      if (tag !== tag.toUpperCase()) unwatched.push(path);
    }
    if (text.endsWith('.gitattributes', end)) attributeFiles.push(path);
    entries += 1;
    start = end + 1;
  }
  const known = new Map<string, boolean>();
  const there = new Set(skipped.filter((path) => statBelow(root, path, known) !== null));
  await unmark(git, '--no-assume-unchanged', unwatched);
  await unmark(git, '--no-skip-worktree', [...there]);
  const absent = skipped.filter((path) => !there.has(path));
  folders.delete('');
  return { submodules, absent, attributeFiles, entries, folders: [...folders] };
};

const unmark = async (git: Git, option: string, paths: readonly string[]): Promise<void> => {
  if (paths.length === 0) return;
  await git.run(['update-index', option, '-z', '--stdin'], { stdin: paths.map((path) => `${path}\0`).join('') });
};
