import type { Git } from './git.ts';
import type { Location } from './locate-repository.ts';
import { objectId } from './tree-reader.ts';

const MAX_BYTES = 16 * 1024 * 1024;
/** What `git cat-file --batch` says before the contents of a file; of anything else it says another word. */
const FILE = /^[0-9a-f]{40,64} blob (\d+)\n/;

/**
 * A file as a commit has it, before the workspace is open; null where the commit has none. A link is followed inside the commit's own tree,
 * never on disk; one that leads out of it is no file. `path`: relative to the root, with `/`.
 */
export const readAtCommit = async (
  { repository }: Pick<Location, 'repository'>,
  { commit, path }: { commit: string; path: string },
): Promise<Buffer | null> => (repository === null ? null : readFollowed(repository.git, { treeish: commit, path }));

/** The same for any tree or commit. */
export const readFollowed = async (
  git: Git,
  { treeish, path }: { treeish: string; path: string },
): Promise<Buffer | null> => {
  const found = await git.call(['cat-file', '--batch', '--follow-symlinks', '-z'], {
    stdin: `${objectId(treeish)}:${path}\0`,
    maxBytes: MAX_BYTES,
  });
  if (found.code !== 0) return null;
  const [header, size] = FILE.exec(found.stdout.toString('latin1', 0, 100)) ?? [];
  return header === undefined ? null : found.stdout.subarray(header.length, header.length + Number(size));
};
