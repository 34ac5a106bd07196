import { existsSync, realpathSync } from 'node:fs';

/** Two names of one file are one file. */
export function followed(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
