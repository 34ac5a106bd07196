import { join } from 'node:path';
import type { Git } from './git.ts';
import { removeEntry } from './place-file.ts';
import type { StartFacts } from './start-facts.ts';
import { gitIn, repositoriesIn, treeFolders } from './unrecorded.ts';
import type { TreeId } from './workspace.ts';

/** Which folders held a repository of their own before the agent came. */
export interface RepositoryWatch {
  /** At the start, and what was learned since (of setup). */
  readonly known: ReadonlySet<string>;
  /** At the start alone. */
  readonly ofStart: ReadonlySet<string>;
  /** Folders of the tree in which there is a repository now that is not among `were`. */
  made(tree: TreeId, were: ReadonlySet<string>): Promise<readonly string[]>;
  /** Removes those; returns how many. */
  remove(tree: TreeId, were: ReadonlySet<string>): Promise<number>;
  learn(folders: Iterable<string>): void;
}

export interface RepositoryWatchOptions {
  git: Git;
  root: string;
  /** Whether the root itself is the work tree of a repository. */
  isRepository: boolean;
  start: StartFacts;
  /** The tree of the first snapshot, and its folders (maybe some more). */
  first: { tree: TreeId; folders: Iterable<string> };
}

export const watchRepositories = (options: RepositoryWatchOptions): RepositoryWatch => {
  const { git, root, isRepository, start, first } = options;
  const ofStart = new Set([...start.nested, ...start.submodules, ...(start.repositories ?? [])]);
  const known = new Set(ofStart);
  const foldersOf = new Map<TreeId, Promise<Iterable<string>>>([[first.tree, Promise.resolve(first.folders)]]);
  const made = async (tree: TreeId, were: ReadonlySet<string>): Promise<string[]> => {
    if (start.repositories === null) return [];
    const folders = foldersOf.get(tree) ?? treeFolders(git, tree);
    foldersOf.set(tree, folders);
    const all = [...(isRepository ? [] : ['']), ...(await folders)];
    return repositoriesIn(
      root,
      all.filter((folder) => !were.has(folder)),
    );
  };
  return {
    known,
    ofStart,
    made,
    remove: async (tree, were) => {
      const found = await made(tree, were);
      for (const folder of found) await removeEntry(join(root, gitIn(folder)));
      return found.length;
    },
    learn: (folders) => {
      for (const folder of folders) known.add(folder);
    },
  };
};
