import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { ancestors } from './text-path.ts';

/** What a path of the tree is on disk; null where there is nothing, or only behind a link. `folders`: what is known of those above. */
export const statBelow = (root: string, path: string, folders: Map<string, boolean>): Stats | null => {
  for (const above of ancestors(path)) {
    const isFolder = folders.get(above) ?? statOf(join(root, above))?.isDirectory() ?? false;
    folders.set(above, isFolder);
    if (!isFolder) return null;
  }
  return statOf(join(root, path));
};

// Not awaited one by one: a promise for each of 50,000 paths costs ten times the call.
const statOf = (path: string): Stats | null => {
  try {
    return lstatSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
};
