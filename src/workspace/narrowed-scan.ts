import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hasCode } from '../errors.ts';
import { ancestors } from './text-path.ts';

/** More are found as fast by looking at everything. */
const MOST_PATHS = 100;
/** A change of one of these may bring other files into view, or out of it. */
const RULES: ReadonlySet<string> = new Set(['.gitignore', '.gitattributes', '.gitmodules', '.git']);

/**
 * The paths that a scan can be narrowed to without missing anything that was done to them; null where only a whole one will do: behind
 * a link git sees nothing, and a file that took a folder's place (or left one behind) changes more than its own path.
 */
export const narrowedTo = (root: string, paths: readonly string[]): readonly string[] | null => {
  if (paths.length > MOST_PATHS) return null;
  return paths.every((path) => isPlain(root, path)) ? paths : null;
};

const isPlain = (root: string, path: string): boolean => {
  const parts = path.split('/');
  if (parts.some((part) => ['', '.', '..', '.git'].includes(part)) || RULES.has(basename(path))) return false;
  if (ancestors(path).some((folder) => !['folder', 'missing'].includes(kindOf(root, folder)))) return false;
  return ['file', 'missing'].includes(kindOf(root, path));
};

const kindOf = (root: string, path: string): 'file' | 'folder' | 'missing' | 'other' => {
  try {
    const stats = lstatSync(join(root, path));
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'missing';
    throw error;
  }
};
