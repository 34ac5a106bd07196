import { join } from 'node:path';
import { statOrNull } from '../sandbox/index.ts';
import type { Git } from './git.ts';
import { ancestors } from './text-path.ts';
import type { TreeEntryChange } from './tree-diff.ts';
import { type TreeEntry, treeEntries } from './tree-reader.ts';
import type { TreeId } from './workspace.ts';

/** What a sparse checkout had left out when the run began: paths of this tree that were not on disk. */
export interface LeftOutPaths {
  paths: ReadonlySet<string>;
  tree: TreeId;
}

interface Site {
  git: Git;
  root: string;
  leftOut: LeftOutPaths;
}

/** Of paths that are gone, those that a sparse checkout had left out are as they were: in the index, and not to be on disk. */
export const leaveOutGone = async (site: Site, gone: readonly string[]): Promise<void> => {
  const entries = await entriesOfStart(site, gone);
  await leaveOut(
    site.git,
    [...entries.values()].filter(({ path }) => isNowhere(site.root, path)),
  );
};

/** Of what is to be put back, the paths that a sparse checkout had left out, and that are to be as they were then. */
export const leftOutAgain = async (site: Site, changes: readonly TreeEntryChange[]): Promise<readonly TreeEntry[]> => {
  const entries = await entriesOfStart(
    site,
    changes.map(({ path }) => path),
  );
  return changes.flatMap(({ path, to }) => {
    const entry = entries.get(path);
    return entry !== undefined && to?.oid === entry.oid && to.mode === entry.mode ? [entry] : [];
  });
};

/** Once they are gone from the disk: puts them into the index as what is not to be there. */
export const leaveOut = async (git: Git, entries: readonly TreeEntry[]): Promise<void> => {
  if (entries.length === 0) return;
  const lines = entries.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`).join('');
  await git.run(['update-index', '--replace', '-z', '--index-info'], { stdin: lines });
  await git.run(['update-index', '--skip-worktree', '-z', '--stdin'], {
    stdin: entries.map(({ path }) => `${path}\0`).join(''),
  });
};

const entriesOfStart = async (
  { git, leftOut }: Site,
  paths: readonly string[],
): Promise<ReadonlyMap<string, TreeEntry>> => {
  const wanted = new Set(paths.filter((path) => leftOut.paths.has(path)));
  if (wanted.size === 0) return new Map();
  const entries = await treeEntries(git, leftOut.tree);
  return new Map(entries.filter(({ path }) => wanted.has(path)).map((entry) => [entry.path, entry]));
};

/** Whether there is nothing at a path, nor anything else than folders on the way: git's index takes no file below a file. */
const isNowhere = (root: string, path: string): boolean =>
  statOrNull(join(root, path)) === null &&
  ancestors(path).every((above) => statOrNull(join(root, above))?.isDirectory() !== false);
