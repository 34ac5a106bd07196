import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../errors.ts';
import { copyEntries } from './carry.ts';
import { inWritable, removeEntry, statOf } from './place-file.ts';

export interface Aside {
  /** The path is relative to it. */
  root: string;
  path: string;
  /** Of the folder that keeps it; `NAME-2`, … where that has something in its place. */
  aside: string;
}

/** Moves a file, link or whole folder, also to another file system. Absent is fine. Returns where it is; what is kept already stays. */
export const moveAside = async ({ root, path, aside }: Aside): Promise<string> => {
  const from = join(root, path);
  if ((await statOf(from)) === null) return join(aside, path);
  const to = await freePlace(aside, path);
  try {
    await inWritable(dirname(from), () => rename(from, to));
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await copyEntries([from], dirname(to));
    await removeEntry(from);
  }
  return to;
};

const freePlace = async (aside: string, path: string): Promise<string> => {
  for (let number = 1; ; number += 1) {
    const place = join(number === 1 ? aside : `${aside}-${number}`, path);
    if ((await canHold(dirname(place))) && (await statOf(place)) === null) return place;
  }
};

/** Whether it is a folder now; not where something else is in its place, or in that of one above it. */
const canHold = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder, { recursive: true });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTDIR')) return false;
    throw error;
  }
};
