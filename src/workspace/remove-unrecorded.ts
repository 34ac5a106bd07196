import { isUtf8 } from 'node:buffer';
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { hasCode } from '../errors.ts';
import { joinBytes } from './byte-path.ts';
import { isLiveSocket } from './live-sockets.ts';
import { inWritable } from './place-file.ts';
import type { RepositoryWatch } from './repository-watch.ts';
import { scanWorkTree } from './scan.ts';
import type { StartFacts } from './start-facts.ts';
import type { SnapshotSite } from './take-snapshot.ts';
import { ancestors } from './text-path.ts';
import { newIgnored } from './unrecorded.ts';
import { removeIfEmpty } from './user-folders.ts';

/**
 * Removes what no tree can hold and nobody had before `sinceMs` (milliseconds since the epoch): pipes, sockets and devices, which git does
 * not see, and on which whoever reads one waits for ever; and empty folders whose name is not UTF-8. Ignored folders that were there are
 * not looked into. A socket that a program still has is somebody else's: what the run started has ended.
 */
export const removeStray = async ({ root, pinned }: SnapshotSite, sinceMs: number): Promise<number> => {
  let removed = 0;
  const odd: Buffer[] = [];
  const pending: Buffer[] = [Buffer.alloc(0)];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const at = placeOf(root, folder);
    for (const entry of await entriesOf(at)) {
      // Bytes, not text: git lists no pipe, so that its name was never refused.
      const path = folder.length === 0 ? entry.name : joinBytes(folder, entry.name);
      if (entry.name.equals(OWN_FOLDER) || pinned.has(path.toString('utf8'))) continue;
      if (entry.isDirectory()) pending.push(path);
      if (entry.isDirectory() && !isUtf8(path)) odd.push(path);
      if (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()) continue;
      const place = placeOf(root, path);
      if ((await lstat(place)).birthtimeMs < sinceMs) continue;
      if (entry.isSocket() && (await isLiveSocket(place))) continue;
      await inWritable(at, () => unlink(place));
      removed += 1;
    }
  }
  // Inner ones first: each was found after the one that it lies in.
  for (const folder of odd.toReversed()) if (await removeIfNew(placeOf(root, folder), sinceMs)) removed += 1;
  return removed;
};

/** Whether a folder was new, and empty. */
const removeIfNew = async (place: Buffer, sinceMs: number): Promise<boolean> => {
  if ((await lstat(place)).birthtimeMs < sinceMs) return false;
  try {
    const above = place.subarray(0, place.lastIndexOf(SLASH));
    await inWritable(above, () => rmdir(place));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EBUSY')) return false;
    throw error;
  }
};

const SLASH = 47;
const OWN_FOLDER = Buffer.from('.git');
const placeOf = (root: string, path: Buffer): Buffer => joinBytes(Buffer.from(root), path);

const entriesOf = async (folder: Buffer) => {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
};

/**
 * Removes what git ignores, and repositories in folders of their own, that nobody had before the agent came. What lies in a folder that
 * was ignored as a whole and was there (node_modules) stays as it is: its contents are not known. So does a folder, ignored as a whole
 * only now, that holds something which was there. With `aside`, they are moved into that folder instead.
 */
export const removeNewIgnored = async (
  { git, root, pinned }: SnapshotSite,
  {
    start,
    aside,
    watch,
  }: {
    start: StartFacts;
    aside: string | null;
    watch: Pick<RepositoryWatch, 'ofStart' | 'takeAway' | 'takeIgnoredAway'>;
  },
): Promise<number> => {
  const { ignored, nested } = await scanWorkTree(git, { ignored: true });
  const holders = new Set([...pinned].flatMap(ancestors));
  const planted = new Set(nested.filter((folder) => !watch.ofStart.has(folder)));
  const added = [...newIgnored(pinned, ignored).filter((path) => !holders.has(path)), ...planted];
  for (const path of added) {
    if (planted.has(path)) await watch.takeAway({ folder: path, path }, aside);
    else await watch.takeIgnoredAway(path, aside);
    const above = ancestors(path).filter((folder) => !start.emptyFolders.includes(folder));
    for (const folder of above.toReversed()) await removeIfEmpty(root, folder);
  }
  return added.length;
};
