import { chmod, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../errors.ts';

/** Removes a folder with all in it, also where a check left folders that may not be written (Go's module cache does). */
export async function removeTree(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await openFolders(dir);
    await rm(dir, { recursive: true, force: true });
  }
}

async function openFolders(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(path.join(dir, entry.name));
  }
}
