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
  glob: string | null;
  /** Returns false when enough was seen. */
  onHit(hit: SearchHit): boolean;
}

/** `stopped: time`: not all was searched. `unavailable`: this way of searching does not work here. */
export type SearchEnd =
  | { kind: 'ended'; stopped: 'enough' | 'time' | 'cancelled' | null }
  | { kind: 'invalid'; reason: string }
  | { kind: 'unavailable' };

/** A filter for paths relative to the root, from a glob as ripgrep reads it. */
export function createGlobFilter(glob: string | null): (path: string) => boolean {
  if (glob === null) return () => true;
  const negated = glob.startsWith('!');
  const matcher = createMatcher([negated ? glob.slice(1) : glob]);
  return (path) => (matcher(path) === null) === negated;
}
