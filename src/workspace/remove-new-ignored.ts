import { join } from 'node:path';
import { removeEntry } from './place-file.ts';
import { scanWorkTree } from './scan.ts';
import type { StartFacts } from './start-facts.ts';
import type { SnapshotSite } from './take-snapshot.ts';
import { ancestors } from './text-path.ts';
import { removeIfEmpty } from './user-folders.ts';

/**
 * Removes what git ignores and nobody had before the agent came. What lies in a folder that was ignored as a whole and was there
 * (node_modules) stays as it is: its contents are not known.
 */
export const removeNewIgnored = async ({ git, root, pinned }: SnapshotSite, start: StartFacts): Promise<number> => {
  const known = [...pinned];
  const { ignored } = await scanWorkTree(git, { ignored: true });
  const added = ignored.filter(
    (path) =>
      !pinned.has(path) &&
      !ancestors(path).some((folder) => pinned.has(folder)) &&
      !known.some((one) => one.startsWith(`${path}/`)),
  );
  for (const path of added) {
    await removeEntry(join(root, path));
    const above = ancestors(path).filter((folder) => !start.emptyFolders.includes(folder));
    for (const folder of above.toReversed()) await removeIfEmpty(root, folder);
  }
  return added.length;
};
