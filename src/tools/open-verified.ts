import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { codeOf } from '../errors.ts';

/** The place under a path was swapped (by a link, a rename) between the look and the use. */
export class PathMovedError extends Error {
  override readonly name = 'PathMovedError';
}

async function placeOf(handle: FileHandle, absolute: string): Promise<{ real: string; via: string | null }> {
  const via = `/proc/self/fd/${handle.fd}`;
  if (process.platform === 'linux') {
    try {
      return { real: await readlink(via), via };
    } catch (error) {
      // No /proc here: the check by path below is all there is.
      if (codeOf(error) === null) throw error;
    }
  }
  return { real: await realpath(absolute), via: null };
}

/**
 * Opens a real path (no links in it) without following a link and without blocking on a FIFO, and makes sure that what is
 * open lies where the path says. Rejects with a system error or a `PathMovedError`.
 */
export async function openVerified(
  absolute: string,
  flags: number,
): Promise<{ handle: FileHandle; via: string | null }> {
  const handle = await open(absolute, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { real, via } = await placeOf(handle, absolute);
    if (real !== absolute) throw new PathMovedError(`${absolute} was moved while it was in use`);
    return { handle, via };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export interface FolderHandle {
  /** A path to an entry that stays in this very folder, even if the folder is renamed or replaced by a link (on Linux). */
  at(name: string): string;
  close(): Promise<void>;
}

export async function openFolder(absolute: string): Promise<FolderHandle> {
  const { handle, via } = await openVerified(absolute, constants.O_RDONLY | constants.O_DIRECTORY);
  return { at: (name) => `${via ?? absolute}/${name}`, close: () => handle.close() };
}
