import { type Git, splitNul } from './git.ts';
import { statBelow } from './stat-below.ts';
import { isPinned } from './take-snapshot.ts';
import { textPath } from './text-path.ts';

export interface UnrecordedQuery {
  pinned: ReadonlySet<string>;
  /** What is ignored now, and which folders hold a repository. */
  ignored: readonly string[];
  nested: readonly string[];
  /** Folders that held a repository before. */
  known: ReadonlySet<string>;
}

/** Ignored paths that are new: neither they nor a folder above them was ignored and there before. */
export const newIgnored = (pinned: ReadonlySet<string>, ignored: readonly string[]): string[] =>
  ignored.filter((path) => !isPinned(pinned, path));

/** See `Workspace.unrecorded`; the `.git` of folders of the tree come from `repositoriesIn`. */
export const findUnrecorded = ({ pinned, ignored, nested, known }: UnrecordedQuery): string[] => [
  ...newIgnored(pinned, ignored),
  ...nested.filter((folder) => !known.has(folder)).map(gitIn),
];

/** Folders of a tree, without the root. */
export const treeFolders = async (git: Git, tree: string): Promise<readonly string[]> =>
  splitNul(await git.run(['ls-tree', '-r', '-d', '-z', '--name-only', '--full-tree', tree])).map(textPath);

/** Those of the folders that hold a `.git`, not behind a link. git tells of none where it has files of a folder itself. */
export const repositoriesIn = (root: string, folders: Iterable<string>): string[] => {
  const known = new Map<string, boolean>();
  return [...folders].filter((folder) => statBelow(root, gitIn(folder), known) !== null);
};

/** The place of a folder's repository. */
export const gitIn = (folder: string): string => (folder === '' ? '.git' : `${folder}/.git`);
