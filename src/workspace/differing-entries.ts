import type { Stats } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { settledAtMs } from '../sandbox/index.ts';
import { holdsSame } from './holds-same.ts';
import { statOf } from './place-file.ts';

export interface Comparison {
  /** Roots of the copy and of the tree that may have changed since. */
  kept: string;
  now: string;
  /** Below both. */
  path: string;
  /** Just before the copy was made; milliseconds since the epoch. */
  sinceMs: number;
}

/**
 * The entries (files, links, whole folders) at and below a path that are not what was copied; one that is only there now is among them.
 * An agent can set every time of a file but that of its last change (ctime), also of a folder that is moved: only where that is older than
 * the copy, in an entry and in all folders on the way to it, the cheap facts are believed. Else the contents are compared.
 */
export const differingEntries = async (comparison: Comparison): Promise<string[]> => {
  const found: string[] = [];
  const pending = [{ path: comparison.path, isOld: true }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { path } = at;
    const [kept, now] = await Promise.all([statOf(join(comparison.kept, path)), statOf(join(comparison.now, path))]);
    if (kept === null && now === null) continue;
    if (kept === null || now === null) {
      found.push(path);
      continue;
    }
    const isOld = at.isOld && settledAtMs(now) < comparison.sinceMs;
    if (!kept.isDirectory() || !now.isDirectory()) {
      if (!(await isSame({ ...comparison, path }, { kept, now, isOld }))) found.push(path);
      continue;
    }
    const [before, after] = await Promise.all([
      namesIn(join(comparison.kept, path)),
      namesIn(join(comparison.now, path)),
    ]);
    // A folder that cannot be read any more is put back whole.
    if (after === null) found.push(path);
    else for (const name of new Set([...(before ?? []), ...after])) pending.push({ path: `${path}/${name}`, isOld });
  }
  return found;
};

const isSame = async (
  { kept: keptRoot, now: nowRoot, path }: Comparison,
  { kept, now, isOld }: { kept: Stats; now: Stats; isOld: boolean },
): Promise<boolean> => {
  const [a, b] = [join(keptRoot, path), join(nowRoot, path)];
  if (kept.mode !== now.mode) return false;
  if (now.isSymbolicLink()) return (await readlink(a)) === (await readlink(b));
  if (!now.isFile() || kept.size !== now.size) return false;
  return isOld && kept.mtimeMs === now.mtimeMs ? true : holdsSame(a, b);
};

const namesIn = async (folder: string): Promise<string[] | null> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM')) return null;
    throw error;
  }
};
