import { lstat } from 'node:fs/promises';
import { hasCode } from '../errors.ts';

/** Whether something has this name: also a link to nowhere, so that reading it says what is wrong. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
