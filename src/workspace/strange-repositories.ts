import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { codeOf } from '../errors.ts';
import { joinBytes } from './byte-path.ts';

const GIT = Buffer.from('.git');

/**
 * Each `.git` in a folder below the root, by its absolute path, but for what lies in folders that are passed over. git stops at one that it
 * cannot read: so these are found without it. Names need not be UTF-8.
 */
export const strangeRepositories = async (root: string, passesOver: (folder: string) => boolean): Promise<Buffer[]> => {
  const found: Buffer[] = [];
  const top: Buffer = Buffer.from(root);
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = joinBytes(folder, entry.name);
      const below = path.subarray(top.length + 1).toString('utf8');
      if (entry.name.equals(GIT)) {
        if (folder !== top) found.push(path);
      } else if (entry.isDirectory() && !passesOver(below)) waiting.push(path);
    }
  }
  return found;
};

/** What cannot be read, git cannot stop at. */
const entriesOf = async (folder: Buffer): Promise<Dirent<Buffer>[]> => {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (codeOf(error) !== null) return [];
    throw error;
  }
};
