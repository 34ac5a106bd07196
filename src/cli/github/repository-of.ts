import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The top of the repository that holds a folder; null where there is none. */
export function repositoryOf(folder: string): string | null {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (existsSync(join(dir, '.git'))) return dir;
    if (dir === dirname(dir)) return null;
  }
}
