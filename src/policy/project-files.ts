import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';

/** The files of a folder that a starter policy is made from. */
export interface ProjectFiles {
  /** Of the folder itself. */
  names: ReadonlySet<string>;
  /** null for what is not a readable regular file. */
  read(name: string): Promise<string | null>;
  list(folder: string): Promise<ReadonlySet<string>>;
  /** Whether a file of such a name lies anywhere below, as far as a short walk sees. */
  holds(pattern: RegExp): Promise<boolean>;
}

/** A manifest beyond this is not a manifest. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FOLDERS = 500;
const MAX_DEPTH = 6;
/** What others wrote, and what was built. */
const FOREIGN: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'third_party', 'target', 'build', 'dist']);

export const isForeign = (folder: string): boolean => folder.startsWith('.') || FOREIGN.has(folder);

export async function openProject(dir: string): Promise<ProjectFiles> {
  const names = new Set((await entriesOf(dir)).map(({ name }) => name));
  return {
    names,
    read: async (name) => (names.has(name) || name.includes('/') ? readText(join(dir, name)) : null),
    list: async (folder) => new Set((await entriesOf(join(dir, folder))).map(({ name }) => name)),
    async holds(pattern) {
      const waiting = [{ at: dir, depth: 0 }];
      for (let seen = 0; seen < MAX_FOLDERS; seen++) {
        const next = waiting.shift();
        if (next === undefined) return false;
        for (const entry of await entriesOf(next.at)) {
          if (entry.isFile() && pattern.test(entry.name)) return true;
          if (entry.isDirectory() && !isForeign(entry.name) && next.depth < MAX_DEPTH)
            waiting.push({ at: join(next.at, entry.name), depth: next.depth + 1 });
        }
      }
      return false;
    },
  };
}

/** A folder that is not there, or may not be read, shows nothing. */
export async function entriesOf(dir: string) {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}

/** Opened without waiting, since it may be a pipe. */
async function readText(path: string): Promise<string | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return null;
      const buffer = Buffer.alloc(MAX_FILE_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR', 'ELOOP', 'ENXIO', 'ENODEV')) return null;
    throw error;
  }
}
