import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { statOrNull } from '../sandbox/index.ts';
import { ancestors } from './text-path.ts';

/** What a path of the tree is on disk; null where there is nothing, or only behind a link. `folders`: what is known of those above. */
export const statBelow = (root: string, path: string, folders: Map<string, boolean>): Stats | null => {
  for (const above of ancestors(path)) {
    const isFolder = folders.get(above) ?? statOrNull(join(root, above))?.isDirectory() ?? false;
    folders.set(above, isFolder);
    if (!isFolder) return null;
  }
  // Not awaited: a promise for each of 50,000 paths costs ten times the call.
  return statOrNull(join(root, path));
};
