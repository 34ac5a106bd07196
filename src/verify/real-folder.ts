import { lstat, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../errors.ts';

/**
 * Makes `relative` a folder below `root` and returns its path. Whatever else stands on the way, a link above all, is removed: a tree
 * that an agent wrote must not lead a later write or mount out of `root`.
 */
export async function makeRealFolder(root: string, relative: string): Promise<string> {
  let at = root;
  for (const name of namesOf(relative)) {
    at = path.join(at, name);
    if (await isRealFolder(at)) continue;
    await rm(at, { force: true });
    await mkdir(at);
  }
  return at;
}

async function isRealFolder(at: string): Promise<boolean> {
  try {
    return (await lstat(at)).isDirectory();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function namesOf(relative: string): string[] {
  const names = relative.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || path.isAbsolute(relative)) throw new RangeError(`not below its root: ${relative}`);
  return names;
}
