import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';

/** Looks where distributions put it: PATH is the pipeline's, and may lead into the workspace. */
export function findSystemProgram(name: string): string | null {
  const places = ['/usr/bin', '/bin', '/usr/local/bin'].map((folder) => path.join(folder, name));
  return places.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (codeOf(error) !== null) return false;
    throw error;
  }
}
