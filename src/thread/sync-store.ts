import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { orNull } from './or-null.ts';
import { syncPath } from './sync-path.ts';

/** Beside the log: the git store of the snapshots. */
export const STORE_FOLDER = 'store.git';
/** What a run that was there just before may not have synced. */
const EARLIER_MS = 60_000;
const AT_ONCE = 16;

/**
 * Puts on disk what was added to the snapshots since the last call: git leaves that to the system. Called where a lost machine would lose
 * somebody's work: before the first effect (the user's uncommitted files may be nowhere else) and before work is put away. A turn's
 * snapshot can be lost with the machine; its files are in the workspace.
 */
export function createStoreSync(threadDir: string): () => Promise<void> {
  const store = join(threadDir, STORE_FOLDER);
  let sinceMs = Date.now() - EARLIER_MS;
  return async () => {
    const startMs = Date.now();
    const objects = join(store, 'objects');
    const folders = ((await orNull(readdir(objects))) ?? []).map((name) => join(objects, name));
    const changed = (await Promise.all(folders.map((folder) => newFilesIn(folder, sinceMs)))).filter(
      (files) => files.length > 0,
    );
    const files = [join(store, 'start.json'), ...changed.flat()];
    for (let at = 0; at < files.length; at += AT_ONCE)
      await Promise.all(files.slice(at, at + AT_ONCE).map(syncIfThere));
    // A name is on disk only once its folder is.
    const above = changed.flatMap(([first = '']) => (first === '' ? [] : [join(first, '..')]));
    await Promise.all([...above, ...(above.length > 0 ? [objects] : []), store].map(syncIfThere));
    sinceMs = startMs - EARLIER_MS;
  };
}

async function newFilesIn(folder: string, sinceMs: number): Promise<string[]> {
  const names = (await orNull(readdir(folder))) ?? [];
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const facts = await orNull(stat(path));
      return facts?.isFile() === true && facts.mtimeMs >= sinceMs ? [path] : [];
    }),
  );
  return found.flat();
}

/** One that is gone (git packs what is loose) needs nothing. */
const syncIfThere = (path: string) => orNull(syncPath(path));
