import { open } from 'node:fs/promises';

/** Puts a file or a folder on disk. A new name is there only once its folder is. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
