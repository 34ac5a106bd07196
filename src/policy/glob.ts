import { expandBraces, MAX_ALTERNATIVES } from './glob-braces.ts';
import { matchSegment, parseSegment, type SegmentToken } from './glob-segment.ts';

const MAX_GLOB_LENGTH = 1024;

/** A segment's tokens, or any number of whole segments (none included). */
type Segment = readonly SegmentToken[] | '**';

interface Pattern {
  segments: readonly Segment[];
  /** Text that every path it matches has in it: a cheap first look. */
  literal: string;
}

/** What is wrong with a glob, as the end of a sentence; null when it is fine. */
export function globFault(glob: string): string | null {
  const body = glob.startsWith('!') ? glob.slice(1) : glob;
  if (glob.length > MAX_GLOB_LENGTH) return `is longer than ${MAX_GLOB_LENGTH} characters`;
  if (body.replaceAll('/', '') === '' || body === '.' || body === './') return 'names nothing';
  if (body.includes('\0')) return 'has a NUL character';
  const alternatives = expandBraces(body);
  if (alternatives === null) return `stands for more than ${MAX_ALTERNATIVES} alternatives`;
  if (alternatives.some((one) => one.split('/').includes('..'))) return 'leaves the repository with `..`';
  return null;
}

/**
 * A matcher for a list of globs, read as `.gitignore` reads them: one without `/` (but at its end) matches at any depth, one
 * with `/` is relative to the root; what matches a folder takes in all below it; a later entry wins over an earlier one and
 * `!glob` takes out. `x/**` takes in `x` itself. `*` and `?` stop at `/`, match dot files, and case counts.
 *
 * Paths are relative to the root, with `/`. The answer is the entry that decided (never a `!` one), or null.
 */
export function createMatcher(globs: readonly string[]): (path: string) => string | null {
  const entries = globs.map((glob) => {
    const negated = glob.startsWith('!');
    const body = negated ? glob.slice(1) : glob;
    return { glob, negated, patterns: (expandBraces(body) ?? [body]).map(parsePattern) };
  });
  return (path) => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.length === 0) return null;
    const segments = parts.map((part) => Array.from(part));
    const plain = parts.join('/');
    for (let index = entries.length - 1; index >= 0; index--) {
      const entry = entries[index];
      if (
        entry?.patterns.some((pattern) => plain.includes(pattern.literal) && matchSegments(pattern.segments, segments))
      )
        return entry.negated ? null : entry.glob;
    }
    return null;
  };
}

/** Texts of which every path that the list matches has at least one in it; '' where there is none to name. */
export function literalsOf(globs: readonly string[]): string[] {
  const matching = globs.filter((glob) => !glob.startsWith('!'));
  return [
    ...new Set(matching.flatMap((glob) => (expandBraces(glob) ?? [glob]).map((one) => parsePattern(one).literal))),
  ];
}

function parsePattern(glob: string): Pattern {
  const texts = glob.split('/').filter((text) => text !== '' && text !== '.');
  const anchored = glob.replace(/\/+$/, '').includes('/');
  const segments = texts.map((text): Segment => (text === '**' ? '**' : parseSegment(text)));
  if (!anchored) segments.unshift('**');
  segments.push('**');
  return { segments, literal: longestLiteral(segments) };
}

function longestLiteral(segments: readonly Segment[]): string {
  let longest = '';
  for (const segment of segments) {
    let run = '';
    for (const token of segment === '**' ? [] : segment) {
      run = token.kind === 'literal' ? run + token.character : '';
      if (run.length > longest.length) longest = run;
    }
  }
  return longest;
}

/** As `matchSegment`, a storey higher: a mismatch goes back to the last `**` only. */
function matchSegments(pattern: readonly Segment[], path: readonly (readonly string[])[]): boolean {
  let wanted = 0;
  let at = 0;
  let runWanted = -1;
  let runAt = 0;
  while (at < path.length) {
    const segment = pattern[wanted];
    if (segment === '**') {
      runWanted = wanted++;
      runAt = at;
    } else if (segment !== undefined && matchSegment(segment, path[at] ?? [])) {
      wanted++;
      at++;
    } else if (runWanted >= 0) {
      wanted = runWanted + 1;
      at = ++runAt;
    } else {
      return false;
    }
  }
  while (pattern[wanted] === '**') wanted++;
  return wanted === pattern.length;
}
