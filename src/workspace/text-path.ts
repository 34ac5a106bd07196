import { isUtf8 } from 'node:buffer';
import { UsageError } from '../errors.ts';

/** Events, globs and patches are UTF-8, and a path has to mean one file: other names are refused, never guessed. */
export const textPath = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const shown = bytes
    .toString('latin1')
    .replace(/[^\x20-\x7e]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
  throw new UsageError(
    `the file name "${shown}" is not UTF-8: rename it, or keep it in a folder that .gitignore names`,
    { code: 'file_name' },
  );
};

/** Every part of a path that lies above it: `a/b/c` → `a`, `a/b`. */
export const ancestors = (path: string): string[] => {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
};

/** For sorting folders: what lies in one comes before it. */
export const deepestFirst = (a: string, b: string): number => depthOf(b) - depthOf(a);
const depthOf = (folder: string): number => (folder === '' ? 0 : folder.split('/').length);
