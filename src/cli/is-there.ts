import { lstat } from 'node:fs/promises';
import { codeOf, hasCode, UsageError } from '../errors.ts';

/** Whether something has this name: also a link to nowhere, so that reading it says what is wrong. Throws UsageError where nobody may look. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    const code = codeOf(error);
    if (code === null) throw error;
    throw new UsageError(`${path} cannot be reached (${code})`, { cause: error });
  }
}
