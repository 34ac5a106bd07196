import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, hasCode, UsageError } from '../errors.ts';

/** Refuses an output path early: a run must not end in "no such folder", or in a file that nobody may write. */
export async function requireWritable(option: string, path: string): Promise<void> {
  const kind = await kindOf(path);
  if (kind === 'folder') throw new UsageError(`${option}: ${path} is a folder`);
  const folder = dirname(path);
  const around = kind === null ? await kindOf(folder) : 'folder';
  if (around === null) throw new UsageError(`${option}: the folder ${folder} does not exist`);
  if (around === 'other') throw new UsageError(`${option}: ${folder} is no folder`);
  try {
    await access(kind === null ? folder : path, constants.W_OK);
  } catch (error) {
    throw new UsageError(`${option}: ${path} cannot be written (${codeOf(error)})`, { cause: error });
  }
}

async function kindOf(path: string): Promise<'folder' | 'other' | null> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw new UsageError(`${path} cannot be reached (${codeOf(error)})`, { cause: error });
  }
}

/** Where a refused run may still write its result: null where it was not asked to, or cannot. */
export async function usableFile(path: string | null, cwd: string): Promise<string | null> {
  if (path === null) return null;
  try {
    await requireWritable('--result', resolve(cwd, path));
    return resolve(cwd, path);
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
