import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { codeOf } from '../errors.ts';

/** What lies in a folder, whatever its names are; nothing where it cannot be read. */
export const entriesOf = async (folder: Buffer): Promise<Dirent<Buffer>[]> => {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (codeOf(error) !== null) return [];
    throw error;
  }
};
