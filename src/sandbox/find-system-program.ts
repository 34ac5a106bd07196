import { constants } from 'node:fs';
import path from 'node:path';
import { mayAccess } from './may-access.ts';

/** Looks where distributions put it: PATH is the pipeline's, and may lead into the workspace. */
export function findSystemProgram(name: string): string | null {
  const places = ['/usr/bin', '/bin', '/usr/local/bin'].map((folder) => path.join(folder, name));
  return places.find((file) => mayAccess(file, constants.X_OK)) ?? null;
}
