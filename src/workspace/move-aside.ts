import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../errors.ts';
import { copyEntries } from './carry.ts';
import { inWritable, removeEntry, statOf } from './place-file.ts';

/** Moves a file, link or whole folder, also to another file system. Absent is fine. */
export const moveAside = async (from: string, to: string): Promise<void> => {
  if ((await statOf(from)) === null) return;
  await removeEntry(to);
  await mkdir(dirname(to), { recursive: true });
  try {
    await inWritable(dirname(from), () => rename(from, to));
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await copyEntries([from], dirname(to));
    await removeEntry(from);
  }
};
