import { join } from 'node:path';
import { isWithin } from '../sandbox/index.ts';
import type { Git } from './git.ts';
import { removeEntry } from './place-file.ts';
import { repositoriesOf, type StartFacts } from './start-facts.ts';
import type { Doubtful } from './take-found.ts';
import { gitIn, repositoriesIn, treeFolders } from './unrecorded.ts';
import type { MovedAside, TreeId } from './workspace.ts';

/** Which folders held a repository of their own before the agent came. */
export interface RepositoryWatch {
  /** At the start, and what was learned since (of setup). */
  readonly known: ReadonlySet<string>;
  /** Those, and what may be a user's. */
  readonly others: Pick<ReadonlySet<string>, 'has'>;
  /** At the start alone. */
  readonly ofStart: ReadonlySet<string>;
  /** Folders of the tree in which there is a repository now that is not among `were`. */
  made(tree: TreeId, were: ReadonlySet<string>): Promise<readonly string[]>;
  /** Takes those away, as `takeAway` does; returns how many. */
  remove(tree: TreeId, were: ReadonlySet<string>, aside?: string | null): Promise<number>;
  /** Takes a folder with a repository away, or its `.git` alone: moves it where it is doubtful or `aside` is given, removes it otherwise. */
  takeAway(target: { folder: string; path: string }, aside?: string | null): Promise<void>;
  /** The same of what is ignored. */
  takeIgnoredAway(path: string, aside: string | null): Promise<void>;
  /** What was moved since this was last asked. */
  takeMoved(): readonly MovedAside[];
  learn(folders: Iterable<string>): void;
}

export interface RepositoryWatchOptions {
  git: Git;
  root: string;
  /** Whether the root itself is the work tree of a repository. */
  isRepository: boolean;
  start: StartFacts;
  /** The tree of the first snapshot, and its folders (maybe some more, and the root). */
  first: { tree: TreeId; folders: Iterable<string> };
  doubtful: Doubtful | null;
}

export const watchRepositories = (options: RepositoryWatchOptions): RepositoryWatch => {
  const { git, root, isRepository, start, first } = options;
  const ofStart = repositoriesOf(start);
  const known = new Set(ofStart);
  const foldersOf = new Map<TreeId, Promise<Iterable<string>>>([[first.tree, Promise.resolve(first.folders)]]);
  const made = async (tree: TreeId, were: ReadonlySet<string>): Promise<string[]> => {
    if (start.repositories === null) return [];
    const folders = foldersOf.get(tree) ?? treeFolders(git, tree);
    foldersOf.set(tree, folders);
    const all = new Set([...(isRepository ? [] : ['']), ...(await folders)]);
    return repositoriesIn(
      root,
      [...all].filter((folder) => !were.has(folder)),
    );
  };
  const moved: MovedAside[] = [];
  const doubted = new Set(options.doubtful?.folders);
  const doubtedIgnored = new Set(options.doubtful?.ignored);
  /** What is ignored one by one may be a folder's part by now, and the other way round. Each is doubted once, as above. */
  const takeDoubted = (path: string): boolean => {
    const about = [...doubtedIgnored].filter((one) => isWithin(path, one) || isWithin(one, path));
    for (const one of about) doubtedIgnored.delete(one);
    return about.length > 0;
  };
  const take = async (path: string, kind: MovedAside['kind'], aside: string | null): Promise<void> => {
    if (aside === null) return removeEntry(join(root, path));
    const { moveAside } = await import('./move-aside.ts');
    moved.push({ path, kind, to: await moveAside({ root, path, aside }) });
  };
  const takeAway: RepositoryWatch['takeAway'] = async ({ folder, path }, aside = null) => {
    await take(path, 'repository', aside ?? (doubted.has(folder) ? (options.doubtful?.aside ?? null) : null));
    // What an agent puts in its place is nobody else's.
    doubted.delete(folder);
  };
  return {
    known,
    ofStart,
    made,
    remove: async (tree, were, aside = null) => {
      const found = await made(tree, were);
      for (const folder of found) await takeAway({ folder, path: gitIn(folder) }, aside);
      return found.length;
    },
    others: { has: (folder) => known.has(folder) || doubted.has(folder) },
    takeAway,
    takeIgnoredAway: async (path, aside) => {
      const isDoubted = takeDoubted(path);
      await take(path, 'ignored', aside ?? (isDoubted ? (options.doubtful?.aside ?? null) : null));
    },
    takeMoved: () => moved.splice(0),
    learn: (folders) => {
      for (const folder of folders) known.add(folder);
    },
  };
};
