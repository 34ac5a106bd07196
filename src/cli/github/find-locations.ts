import { existsSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A place in a file that the output of a check names. */
export interface Location {
  /** Relative to the root, with slashes. */
  file: string;
  line: number;
  col: number | null;
  /** The line of output that names it. */
  says: string;
}

/** `src/a.ts:3:5`, `src/a.ts(3,5)`, `file:///w/src/a.js:3:5`, `File "a.py", line 3`. */
const NAMED =
  /(?:^|[\s"'`(<[])(?:file:\/\/)?([\w@.+~/-]{1,300}\.[A-Za-z]\w{0,7})(?:[:(]|", line )(\d{1,7})(?:[:,](\d{1,5}))?/g;
const FOREIGN = /(^|\/)(node_modules|site-packages|\.venv|vendor)\//;

/** Places in files of the root, in the order of the output, each line once. Other files that the output names are left out. */
export function findLocations(output: string, root: string, most: number): Location[] {
  const found = new Map<string, Location>();
  for (const text of output.split(/\r\n|\r|\n/)) {
    for (const [, path = '', line = '', col] of text.matchAll(NAMED)) {
      if (found.size === most) return [...found.values()];
      if (FOREIGN.test(path)) continue;
      const file = placeBelow(root, path);
      const key = `${file}:${Number(line)}`;
      if (file === null || found.has(key)) continue;
      found.set(key, { file, line: Number(line), col: col === undefined ? null : Number(col), says: text.trim() });
    }
  }
  return [...found.values()];
}

/**
 * The file of the root that the longest tail of the path names: checks run in a fresh checkout with another root. Never a file
 * outside, whatever links the repository holds.
 */
function placeBelow(root: string, path: string): string | null {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return null;
  for (let from = 0; from < parts.length; from++) {
    const at = join(root, ...parts.slice(from));
    if (!existsSync(at) || !statSync(at).isFile()) continue;
    const inside = relative(realpathSync(root), realpathSync(at));
    return inside.startsWith('..') ? null : inside.split(sep).join('/');
  }
  return null;
}
