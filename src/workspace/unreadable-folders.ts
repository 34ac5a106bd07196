import { constants as fs } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';

const MAX_FOUND = 1000;

/** Folders below `root` (relative to it) that cannot be listed or entered. Follows no link. */
export const unreadableFolders = async (root: string): Promise<readonly string[]> => {
  const found: string[] = [];
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined && found.length < MAX_FOUND; folder = waiting.pop()) {
    try {
      await access(join(root, folder), fs.R_OK | fs.X_OK);
      for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
        if (entry.isDirectory() && entry.name !== '.git')
          waiting.push(folder === '' ? entry.name : `${folder}/${entry.name}`);
      }
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM')) found.push(folder);
      else if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    }
  }
  return found;
};
