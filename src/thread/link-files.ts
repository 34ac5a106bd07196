import { type Dirent, constants as fs } from 'node:fs';
import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { orNull } from './or-null.ts';

/** How a file gets into a copy of its folder. `link`: only for what nobody ever writes again. */
export type Taking = 'link' | 'copy' | 'skip';

/**
 * A copy of a folder, its unchanging files as hard links where the file system has them. What is neither file nor folder is left out.
 * `takes` sees paths relative to the folder, with `/`.
 */
export async function linkFiles(from: string, to: string, takes: (path: string) => Taking): Promise<void> {
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const entries: Dirent[] | null = await orNull(readdir(join(from, below), { withFileTypes: true }));
    if (entries === null) continue;
    await mkdir(join(to, below), { recursive: true, mode: 0o700 });
    for (const entry of entries) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const taking = takes(path);
      if (taking === 'skip') continue;
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) await takeFile(join(from, path), join(to, path), taking);
    }
  }
}

const NO_LINK = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

async function takeFile(from: string, to: string, taking: Exclude<Taking, 'skip'>): Promise<void> {
  if (taking === 'link') {
    try {
      return await link(from, to);
    } catch (error) {
      if (!hasCode(error, ...NO_LINK)) throw error;
    }
  }
  await copyFile(from, to, fs.COPYFILE_FICLONE);
}
