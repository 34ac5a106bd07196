import { rm } from 'node:fs/promises';
import { type Git, gitFailure, splitNul } from './git.ts';
import type { Store } from './store.ts';
import { textPath } from './text-path.ts';

export interface IndexFacts {
  /** Paths of submodules: their contents are no part of a snapshot. */
  submodules: readonly string[];
  /** Paths that a sparse checkout leaves out. */
  absent: readonly string[];
  entries: number;
}

const SUBMODULE = '160000';

/**
 * Makes the copied index fit for us: what it marks as `assume unchanged` is looked at again, and one that this git cannot read gives
 * way to the entries of `head` (or to none).
 */
export const prepareIndex = async (git: Git, store: Store, head: string | null): Promise<IndexFacts> => {
  const listing = ['ls-files', '-s', '-v', '-z'];
  let listed = await git.call(listing);
  if (listed.code !== 0) {
    await rm(store.indexFile, { force: true });
    if (head !== null) await git.run(['read-tree', head]);
    listed = await git.call(listing);
    if (listed.code !== 0) throw gitFailure(listing, listed);
  }
  const submodules: string[] = [];
  const absent: string[] = [];
  const unwatched: Buffer[] = [];
  let entries = 0;
  for (const entry of splitNul(listed.stdout)) {
    const tab = entry.indexOf(9);
    const [tag = '', mode] = entry.toString('latin1', 0, tab).split(' ');
    const path = entry.subarray(tab + 1);
    entries += 1;
    const name = textPath(path);
    if (mode === SUBMODULE) submodules.push(name);
    // `S`: skip-worktree; a small letter: assume-unchanged as well.
    if (tag.toUpperCase() === 'S') absent.push(name);
    if (tag !== tag.toUpperCase()) unwatched.push(path);
  }
  if (unwatched.length > 0) {
    const stdin = Buffer.concat(unwatched.flatMap((path) => [path, Buffer.from([0])]));
    await git.run(['update-index', '--no-assume-unchanged', '-z', '--stdin'], { stdin });
  }
  return { submodules, absent, entries };
};
