import { realpath } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import type { FileChange } from '../events/index.ts';
import { createGit, findGit } from './git.ts';
import { loadStartFacts } from './start-facts.ts';
import { storeAt } from './store.ts';
import { diffTrees, entryChanges, MAX_PATCH_BYTES } from './tree-diff.ts';
import { objectId } from './tree-reader.ts';
import type { BaseState, TreeChange, TreeId } from './workspace.ts';

/** The snapshots of a thread, for reading: the workspace is not looked at, and a run may be making more. */
export interface StoredSnapshots {
  /** The workspace as the thread found it. */
  readonly base: BaseState;
  changedPaths(from: TreeId, to: TreeId): Promise<readonly FileChange[]>;
  diff(from: TreeId, to: TreeId): Promise<TreeChange>;
}

export interface StoredSnapshotsQuery {
  storeDir: string;
  /** The folder that the snapshots are of: no git of its own counts. */
  workspace: string;
  /** The harness's PATH. */
  path: string;
}

/** Rejects with a `UsageError` where there are none (`no_snapshots`). */
export const openSnapshots = async (query: StoredSnapshotsQuery): Promise<StoredSnapshots> => {
  const storeDir = await realpath(query.storeDir);
  const { base } = await loadStartFacts(storeDir);
  const { gitDir, scratch } = storeAt(storeDir);
  const git = createGit(await findGit(query.path, query.workspace), gitDir, {
    GIT_DIR: gitDir,
    // No attributes of a work tree: the store has its own.
    GIT_WORK_TREE: scratch,
  });
  const pairOf = async (from: TreeId, to: TreeId) => {
    for (const tree of [from, to]) {
      if ((await git.call(['cat-file', '-e', objectId(tree)])).code === 0) continue;
      throw new UsageError(
        `the snapshot ${tree} is not whole here: its thread shares objects with the repository it was made in`,
        { code: 'missing_object' },
      );
    }
    return { from, to };
  };
  return {
    base,
    changedPaths: async (from, to) =>
      (await entryChanges(git, await pairOf(from, to))).map(({ path, kind }) => ({ path, kind })),
    diff: async (from, to) => diffTrees(git, await pairOf(from, to), MAX_PATCH_BYTES),
  };
};
