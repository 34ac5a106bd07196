import { lstat, rm, writeFile } from 'node:fs/promises';
import { codeOf } from '../errors.ts';
import type { Session } from './session.ts';

/**
 * Writes a file that the user asked for, and returns whether it is there. One that cannot be written is told and taken away, so that no
 * half of a patch or a result is taken for the whole; it costs the run nothing else.
 */
export async function writeOutput(
  path: string,
  content: Buffer | string,
  { noteProblem }: Pick<Session, 'noteProblem'>,
): Promise<boolean> {
  try {
    await writeFile(path, content);
    return true;
  } catch (error) {
    await removeHalf(path);
    await noteProblem(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

async function removeHalf(path: string): Promise<void> {
  try {
    // Devices and pipes stay.
    if ((await lstat(path)).isFile()) await rm(path);
  } catch (error) {
    // It is not there, or cannot be touched at all: the failure to write it is what is told.
    if (codeOf(error) === null) throw error;
  }
}
