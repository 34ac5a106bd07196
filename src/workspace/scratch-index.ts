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

export interface Layout {
  tree: TreeId;
  dir: string;
  /** Paths to leave out. */
  absent: readonly string[];
}

/** Writes the files of a tree below `dir`, which is absolute and empty. */
export const layOut = (git: Git, store: Store, { tree, dir, absent }: Layout): Promise<void> =>
  withScratchIndex(store, async (indexFile) => {
    const options = { indexFile, workTree: dir };
    await git.run(['read-tree', objectId(tree)], options);
    if (absent.length > 0) {
      const known = new Set((await treeEntries(git, tree)).map((entry) => entry.path));
      const stdin = absent.filter((path) => known.has(path)).map((path) => `${path}\0`);
      await git.run(['update-index', '--skip-worktree', '-z', '--stdin'], { ...options, stdin: stdin.join('') });
    }
    await checkOut(git, options);
  });

export interface Staging {
  entries: readonly TreeEntry[];
  dir: string;
}

/** As `layOut`, for single files and links. */
export const stageEntries = (git: Git, store: Store, { entries, dir }: Staging): Promise<void> =>
  withScratchIndex(store, async (indexFile) => {
    if (entries.length === 0) return;
    const options = { indexFile, workTree: dir };
    const stdin = entries.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`).join('');
    await git.run(['update-index', '-z', '--index-info'], { ...options, stdin });
    await checkOut(git, options);
  });

const checkOut = async (git: Git, options: { indexFile: string; workTree: string }): Promise<void> => {
  const args = ['checkout-index', '-q', '-a', `--prefix=${options.workTree}/`];
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
