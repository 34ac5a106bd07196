import { open } from 'node:fs/promises';

/** A new name is on disk only once its folder is. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
