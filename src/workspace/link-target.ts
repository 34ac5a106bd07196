import { readlink } from 'node:fs/promises';
import { hasCode } from '../errors.ts';

/** Where a link leads to, as it says; null for what is no link, is not there, or cannot be seen. */
export const linkTarget = async (path: string): Promise<string | null> => {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, 'EINVAL', 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
};
