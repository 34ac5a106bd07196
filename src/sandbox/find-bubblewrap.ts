import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';
import { isWithin } from './is-within.ts';

/**
 * The first `bwrap` of PATH, as a real path. Entries inside the folders given (the workspace) are passed over: `npx` and the like put
 * the repository's own programs there, and one of those could play the fence.
 */
export function findBubblewrap(searchPath: string, outside: readonly string[]): string | null {
  for (const entry of searchPath.split(':')) {
    if (!path.isAbsolute(entry)) continue;
    const file = realExecutable(path.join(entry, 'bwrap'));
    if (file !== null && !outside.some((folder) => isWithin(folder, file) || isWithin(folder, entry))) return file;
  }
  return null;
}

function realExecutable(file: string): string | null {
  try {
    accessSync(file, constants.X_OK);
    const real = realpathSync(file);
    return statSync(real).isFile() ? real : null;
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
