import type { Location } from './locate-repository.ts';
import { objectId } from './tree-reader.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** A file as a commit has it, before the workspace is open; null where the commit has none. `path`: relative to the root, with `/`. */
export const readAtCommit = async (
  { repository }: Pick<Location, 'repository'>,
  { commit, path }: { commit: string; path: string },
): Promise<Buffer | null> => {
  const args = ['cat-file', 'blob', `${objectId(commit)}:${path}`];
  const found = await repository?.git.call(args, { maxBytes: MAX_BYTES });
  return found?.code === 0 ? found.stdout : null;
};
