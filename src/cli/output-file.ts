import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../errors.ts';

/** Refuses an output path early: a run must not end in "no such folder". */
export async function requireParentFolder(option: string, path: string): Promise<void> {
  const folder = dirname(path);
  try {
    if ((await stat(folder)).isDirectory()) return;
  } catch (error) {
    throw new UsageError(`${option}: the folder ${folder} does not exist`, { cause: error });
  }
  throw new UsageError(`${option}: ${folder} is no folder`);
}
