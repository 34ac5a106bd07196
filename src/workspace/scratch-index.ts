import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, gitFailure, splitNul } from './git.ts';
import { firstMissing, missingObject } from './missing-object.ts';
import type { Store } from './store.ts';
import { isPinned } from './take-snapshot.ts';
import { objectId, type TreeEntry, treeEntries } from './tree-reader.ts';
import type { TreeId } from './workspace.ts';

/** Runs `use` with an index of its own that nobody else sees. */
const withScratchIndex = async <T>(store: Store, use: (indexFile: string) => Promise<T>): Promise<T> => {
  const indexFile = join(store.scratch, `index-${randomUUID()}`);
  try {
    return await use(indexFile);
  } finally {
    await rm(indexFile, { force: true });
  }
};

const treeOf = async (git: Git, indexFile: string): Promise<TreeId> =>
  (await git.run(['write-tree', '--missing-ok'], { indexFile })).toString('latin1').trim();

export interface Transplant {
  tree: TreeId;
  from: TreeId;
  paths: readonly string[];
}

/** See `Workspace.withPathsOf`. A path that is a folder in either tree means all below it. */
export const transplant = (git: Git, store: Store, { tree, from, paths }: Transplant): Promise<TreeId> =>
  withScratchIndex(store, async (indexFile) => {
    const wanted = new Set(paths.map((path) => path.replace(/\/+$/, '')));
    const [target, source] = [await treeEntries(git, tree), await treeEntries(git, from)];
    const gone = target
      .filter(({ path }) => isPinned(wanted, path))
      .map(({ path, oid }) => `0 ${'0'.repeat(oid.length)}\t${path}\0`);
    const kept = source
      .filter(({ path }) => isPinned(wanted, path))
      .map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`);
    await git.run(['read-tree', objectId(tree)], { indexFile });
    // Removals first: a file may come where a folder was.
    await git.run(['update-index', '-z', '--index-info'], { indexFile, stdin: [...gone, ...kept].join('') });
    return treeOf(git, indexFile);
  });

export interface Proof {
  patch: Buffer;
  base: TreeId;
  tree: TreeId;
}

/** See `Workspace.proves`. In an index alone: no file is written, so that size costs nothing. */
export const provePatch = (git: Git, store: Store, { patch, base, tree }: Proof): Promise<boolean> =>
  withScratchIndex(store, async (indexFile) => {
    await git.run(['read-tree', objectId(base)], { indexFile });
    const applied = await git.call(['apply', '--cached', '--binary', '--whitespace=nowarn', '--allow-empty', '-'], {
      indexFile,
      stdin: patch,
    });
    return applied.code === 0 && (await treeOf(git, indexFile)) === tree;
  });

export interface TreeIndex {
  tree: TreeId;
  /** Paths that the tree has and no checkout is to have. */
  absent: readonly string[];
  indexFile: string;
}

/** No index is split that lies elsewhere than the store's: its other half would not be beside it. */
export const WHOLE_INDEX = ['-c', 'core.splitIndex=false', '-c', 'core.untrackedCache=false'];

/** An index of its own for a tree, which stays. */
export const readTree = async (git: Git, { tree, absent, indexFile }: TreeIndex): Promise<void> => {
  await git.run([...WHOLE_INDEX, 'read-tree', objectId(tree)], { indexFile });
  if (absent.length === 0) return;
  const known = new Set((await treeEntries(git, tree)).map((entry) => entry.path));
  const stdin = absent.filter((path) => known.has(path)).map((path) => `${path}\0`);
  const args = [...WHOLE_INDEX, 'update-index', '--skip-worktree', '-z', '--stdin'];
  await git.run(args, { indexFile, stdin: stdin.join('') });
};

export interface Staging {
  entries: readonly TreeEntry[];
  dir: string;
}

/** Writes single files and links below `dir`, which is absolute and empty. */
export const stageEntries = (git: Git, store: Store, { entries, dir }: Staging): Promise<void> =>
  withScratchIndex(store, async (indexFile) => {
    if (entries.length === 0) return;
    const options = { indexFile, workTree: dir };
    const stdin = entries.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`).join('');
    await git.run(['update-index', '-z', '--index-info'], { ...options, stdin });
    await checkOut(git, options);
  });

/** Writes what an index names below `workTree`; `remembers`: the index then knows the files by their stat data. */
export const checkOut = async (
  git: Git,
  options: { indexFile: string; workTree: string; remembers?: boolean },
): Promise<void> => {
  // git remembers nothing of files below a prefix.
  const place = options.remembers === true ? ['-u'] : [`--prefix=${options.workTree}/`];
  const args = [...WHOLE_INDEX, 'checkout-index', '-q', '-a', ...place];
  const result = await git.call(args, options);
  if (result.code === 0) return;
  const lacking = await firstMissing(git, await indexEntries(git, options));
  throw lacking === null ? gitFailure(args, result) : missingObject(lacking);
};

const indexEntries = async (git: Git, { indexFile }: { indexFile: string }): Promise<TreeEntry[]> => {
  const lines = splitNul(await git.run(['ls-files', '-s', '-z'], { indexFile }));
  return lines.map((line) => {
    const tab = line.indexOf(9);
    const [mode = '', oid = ''] = line.toString('latin1', 0, tab).split(' ');
    return { mode, oid, path: line.toString('utf8', tab + 1) };
  });
};
