import { isUtf8 } from 'node:buffer';
import { lstat, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { type Git, splitNul } from './git.ts';
import { statBelow } from './stat-below.ts';
import { ancestors, textPath } from './text-path.ts';

const MAX_FOLDERS = 20_000;

/**
 * Folders with no file that git knows of: it does not record them, so that restore needs a list of its own to leave the user's alone.
 * Ignored folders and nested repositories are left out. `touched`: paths of the index that changed, are gone or were left out; git lists no
 * folder in the place of one, or that holds nothing else.
 */
export const emptyFolders = async (
  git: Git,
  root: string,
  { nested, touched }: { nested: readonly string[]; touched: readonly string[] },
): Promise<readonly string[]> => {
  const listed = await git.run(['ls-files', '-o', '--directory', '--exclude-standard', '-z']);
  const closed = new Set(nested);
  const found: string[] = [];
  // One of another name is told from the user's own by its age (`removeStray`).
  const waiting = splitNul(listed)
    .filter((path) => isUtf8(path))
    .map(textPath)
    .filter((path) => path.endsWith('/'))
    .map((path) => path.slice(0, -1));
  const known = new Map<string, boolean>();
  const isFolder = (path: string): boolean => statBelow(root, path, known)?.isDirectory() === true;
  waiting.push(...touched.filter(isFolder));
  const gone = touched.filter((path) => statBelow(root, path, known) === null);
  const left = [...new Set(gone.flatMap(ancestors))].filter(isFolder);
  for (let folder = waiting.pop(); folder !== undefined && found.length < MAX_FOLDERS; folder = waiting.pop()) {
    if (closed.has(folder)) continue;
    const names = await foldersAndFiles(join(root, folder));
    if (names === null) continue;
    if (names.files === 0) found.push(folder);
    for (const name of names.folders) waiting.push(`${folder}/${name}`);
  }
  for (const folder of left) if ((await foldersAndFiles(join(root, folder)))?.files === 0) found.push(folder);
  return [...new Set(found)].sort();
};

const foldersAndFiles = async (path: string): Promise<{ folders: string[]; files: number } | null> => {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    return folders.includes('.git') ? null : { folders, files: entries.length - folders.length };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return null;
    throw error;
  }
};

/** Removes a folder when it is empty; a folder with something in it, or none, is no error. Never through a link. */
export const removeIfEmpty = async (root: string, folder: string): Promise<boolean> => {
  try {
    for (const above of ancestors(folder)) if (!(await lstat(join(root, above))).isDirectory()) return false;
    await rmdir(join(root, folder));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'EBUSY', 'ELOOP')) return false;
    throw error;
  }
};
