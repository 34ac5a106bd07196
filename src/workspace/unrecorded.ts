import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, splitNul } from './git.ts';
import { removeEntry } from './place-file.ts';
import { isPinned } from './take-snapshot.ts';
import { textPath } from './text-path.ts';

export interface RepositoryLook {
  git: Git;
  root: string;
  tree: string;
  /** Whether `.git` of the root itself is the user's. */
  hasRepository: boolean;
  /** Folders that held a repository before. */
  known: ReadonlySet<string>;
  /** Milliseconds since the epoch: what is older was there before. */
  sinceMs: number;
}

export interface UnrecordedQuery extends RepositoryLook {
  pinned: ReadonlySet<string>;
  /** What is ignored now, and which folders hold a repository. */
  ignored: readonly string[];
  nested: readonly string[];
}

/** Birth times may lag behind the clock by a tick of the kernel. */
const TICK_MS = 20;

/** See `Workspace.unrecorded`. */
export const findUnrecorded = async (query: UnrecordedQuery): Promise<string[]> => [
  ...query.ignored.filter((path) => !isPinned(query.pinned, path)),
  ...query.nested.filter((folder) => !query.known.has(folder)).map(gitOf),
  ...(await repositoriesMade(query)),
];

/** Takes away `.git` in folders of the tree. Returns how many. */
export const removeNewRepositories = async (look: RepositoryLook): Promise<number> => {
  const made = await repositoriesMade(look);
  for (const path of made) await removeEntry(join(look.root, path));
  return made.length;
};

/** Each `.git` in a folder of the tree. */
export const repositoriesMade = async (look: RepositoryLook): Promise<string[]> => {
  const { git, root, tree, known } = look;
  const folders = splitNul(await git.run(['ls-tree', '-r', '-d', '-z', '--name-only', '--full-tree', tree])).map(
    textPath,
  );
  const isNew = (path: string): boolean => {
    const entry = lstatSync(join(root, path), { throwIfNoEntry: false });
    return entry !== undefined && entry.birthtimeMs >= look.sinceMs - TICK_MS;
  };
  const inTree = (look.hasRepository ? folders : ['', ...folders]).filter((folder) => !known.has(folder));
  return inTree.map(gitOf).filter(isNew);
};

const gitOf = (folder: string): string => (folder === '' ? '.git' : `${folder}/.git`);
