import { chmod, readdir, rm } from 'node:fs/promises';
import { hasCode } from '../errors.ts';
import { joinBytes } from '../workspace/index.ts';

/** Removes a folder with all in it, also where a check left folders that may not be written (Go's module cache does). */
export async function removeTree(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await openFolders(Buffer.from(dir));
    await rm(dir, { recursive: true, force: true });
  }
}

// Bytes, not text: a check may give any name.
async function openFolders(dir: Buffer): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await openFolders(joinBytes(dir, entry.name));
  }
}
