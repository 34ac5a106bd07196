import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../errors.ts';

/** The real absolute path of a file that may not exist yet; its own last part is not followed. */
export async function realFile(path: string): Promise<string> {
  return join(await realFolder(dirname(path)), basename(path));
}

/** The shell may have opened a stream in a folder that belay cannot enter, or that is gone: then the kernel's own name of it stands. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'EACCES', 'ENOENT', 'ENOTDIR')) return path;
    throw error;
  }
}
