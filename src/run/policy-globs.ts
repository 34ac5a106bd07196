import { relative, sep } from 'node:path';
import { realFile } from './real-file.ts';

/** The policy in use, as a glob that protects it, where it lies below the root (real, absolute); else none. */
export async function policyGlobs(path: string, root: string): Promise<string[]> {
  const below = relative(root, await realFile(path));
  return below.startsWith(`..${sep}`)
    ? []
    : [
        `/${below
          .split(sep)
          .join('/')
          .replace(/[\\*?[\]{}!]/g, '\\$&')}`,
      ];
}
