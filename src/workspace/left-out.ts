import { join } from 'node:path';
import { statOrNull } from '../sandbox/index.ts';
import type { Git } from './git.ts';
import { ancestors } from './text-path.ts';
import type { TreeEntryChange } from './tree-diff.ts';
import { type TreeEntry, treeEntries } from './tree-reader.ts';
import type { TreeId } from './workspace.ts';

/** What a sparse checkout left out when the run began, and still does: paths of the start's tree that are not on disk. */
export interface LeftOut {
  /** Whether a path is one of them, or what is there could be in the place of one. */
  concerns(path: string): boolean;
  /** These paths are, or are going to be, in the index otherwise: what was left out there is not in it any more. */
  displace(paths: readonly string[]): void;
  /** Puts those back into the index, as what is not to be on disk, in whose place there is nothing now. Returns how many. */
  settle(): Promise<number>;
  /** Of what is to be put back, what is to be as it was: in the index alone. */
  again(changes: readonly TreeEntryChange[]): Promise<readonly TreeEntry[]>;
}

export const createLeftOut = (
  git: Git,
  { root, paths, tree }: { root: string; paths: readonly string[]; tree: TreeId },
): LeftOut => {
  const all = new Set(paths);
  const folders = new Set(paths.flatMap(ancestors));
  const displaced = new Set<string>();
  let entries: Promise<ReadonlyMap<string, TreeEntry>> | null = null;
  const entriesOfStart = (): Promise<ReadonlyMap<string, TreeEntry>> => {
    entries ??= treeEntries(git, tree).then(
      (found) => new Map(found.filter(({ path }) => all.has(path)).map((entry) => [entry.path, entry])),
    );
    return entries;
  };
  return {
    concerns: (path) => all.has(path) || folders.has(path) || ancestors(path).some((above) => all.has(above)),
    displace(given) {
      for (const path of given) {
        for (const one of [path, ...ancestors(path)]) if (all.has(one)) displaced.add(one);
        if (folders.has(path)) for (const one of paths) if (one.startsWith(`${path}/`)) displaced.add(one);
      }
    },
    async settle() {
      const back = [...displaced].filter((path) => isNowhere(root, path));
      if (back.length === 0) return 0;
      const known = await entriesOfStart();
      await leaveOut(
        git,
        back.flatMap((path) => known.get(path) ?? []),
      );
      for (const path of back) displaced.delete(path);
      return back.length;
    },
    async again(changes) {
      if (!changes.some(({ path }) => all.has(path))) return [];
      const known = await entriesOfStart();
      return changes.flatMap(({ path, to }) => {
        const entry = known.get(path);
        return entry !== undefined && to?.oid === entry.oid && to.mode === entry.mode ? [entry] : [];
      });
    },
  };
};

const leaveOut = async (git: Git, entries: readonly TreeEntry[]): Promise<void> => {
  const lines = entries.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`).join('');
  await git.run(['update-index', '--replace', '-z', '--index-info'], { stdin: lines });
  await git.run(['update-index', '--skip-worktree', '-z', '--stdin'], {
    stdin: entries.map(({ path }) => `${path}\0`).join(''),
  });
};

/** Whether there is nothing at a path, nor anything else than folders on the way: git's index takes no file below a file. */
const isNowhere = (root: string, path: string): boolean =>
  ancestors(path).every((above) => statOrNull(join(root, above))?.isDirectory() !== false) &&
  statOrNull(join(root, path)) === null;
