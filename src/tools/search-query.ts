import * as path from 'node:path';
import { createMatcher } from '../policy/index.ts';

/** A line that matches; the path is relative to the root. */
export interface SearchHit {
  path: string;
  line: number;
  text: string;
}

export interface SearchQuery {
  root: string;
  /** Folder or file relative to the root, '' for all. */
  base: string;
  pattern: string;
  /** Relative to `globFolder` (relative to the root, '' for it) where it has a `/`, else for names at any depth. */
  glob: string | null;
  globFolder: string;
  /** Returns false when enough was seen. */
  onHit(hit: SearchHit): boolean;
}

/** `stopped: time`: not all was searched. `unavailable`: this way of searching does not work here. */
export type SearchEnd =
  | { kind: 'ended'; stopped: 'enough' | 'time' | 'cancelled' | null }
  | { kind: 'invalid'; reason: string }
  | { kind: 'unavailable' };

/** Which paths (relative to the root) a query's glob lets through. */
export function createGlobFilter({
  glob,
  globFolder,
}: Pick<SearchQuery, 'glob' | 'globFolder'>): (file: string) => boolean {
  if (glob === null) return () => true;
  const negated = glob.startsWith('!');
  const matcher = createMatcher([negated ? glob.slice(1) : glob]);
  return (file) => (matcher(path.posix.relative(globFolder, file)) === null) === negated;
}
