import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

export interface Masked {
  path: string;
  shape: 'file' | 'folder';
}

/** Bound of the walk; a machine's /etc has a few thousand entries. */
const MAX_ENTRIES = 20_000;

/** What only root may read, for commands that have root's uid. */
export function findRootOnly(folder: string): Masked[] {
  const found: Masked[] = [];
  const open = [folder];
  for (let count = 0; open.length > 0 && count < MAX_ENTRIES; ) {
    const at = open.pop() ?? folder;
    for (const name of readdirSync(at)) {
      count++;
      const file = path.join(at, name);
      const stat = lstatSync(file);
      if (stat.isSymbolicLink()) continue;
      if (stat.isDirectory() && (stat.mode & 0o005) === 0o005) open.push(file);
      else if (stat.isDirectory()) found.push({ path: file, shape: 'folder' });
      else if ((stat.mode & 0o004) === 0) found.push({ path: file, shape: 'file' });
    }
  }
  return found;
}
