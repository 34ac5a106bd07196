import type { FileText } from './file-text.ts';
import { createLineMatcher, type LineMatcher, type PassName } from './match-lines.ts';
import { describeNearMiss } from './near-miss.ts';
import type { Chunk, PatchLine } from './parse-patch.ts';

/** A chunk with the line (0-based) of the file where its first old line stands. */
export interface PlacedChunk {
  lines: readonly PatchLine[];
  start: number;
  pass: PassName;
}

export type Placement = { kind: 'placed'; chunks: readonly PlacedChunk[] } | { kind: 'failed'; reason: string };

/** Part of a file below a context line: its indented section first, then all that follows. */
interface Scope {
  from: number;
  sectionEnd: number;
  contextual: boolean;
}

/** A chunk with every place where it could go. */
interface Candidates {
  chunk: Chunk;
  lines: readonly PatchLine[];
  /** Old lines up to the end of the last change: context below it may overlap with the next chunk. */
  coreEnd: number;
  /** A bare addition to the end of the file stands outside of the order of chunks. */
  ordered: boolean;
  pass: PassName;
  starts: readonly number[];
}

const MAX_CONTEXTS = 200;

class Unplaceable extends Error {}

const oldLines = (lines: readonly PatchLine[]): string[] => lines.filter((l) => l.op !== '+').map((l) => l.text);
const places = (starts: readonly number[]): string => {
  const shown = starts.slice(0, 8).map((start) => start + 1);
  return `${shown.join(', ')}${starts.length > shown.length ? `, … (${starts.length} in all)` : ''}`;
};

/**
 * Finds the one place of every chunk. Chunks come in the order of the file; each looks for its old lines below the change
 * before it. Where they match more than once, context lines and the chunks that follow must leave exactly one place.
 */
export function placeChunks(file: FileText, chunks: readonly Chunk[]): Placement {
  const matcher = createLineMatcher(file);
  try {
    let cursor = 0;
    const found = chunks.map((chunk) => {
      const candidates = findCandidates(matcher, chunk, cursor);
      if (candidates.ordered) cursor = (candidates.starts[0] ?? 0) + candidates.coreEnd;
      return candidates;
    });
    return { kind: 'placed', chunks: onlyPlaces(found) };
  } catch (error) {
    if (error instanceof Unplaceable) return { kind: 'failed', reason: error.message };
    throw error;
  }
}

/** Goes backwards: a place counts only if the chunk below can still come after it. */
function onlyPlaces(found: readonly Candidates[]): PlacedChunk[] {
  let nextStart = Number.POSITIVE_INFINITY;
  const placed: PlacedChunk[] = [];
  for (const { chunk, lines, coreEnd, ordered, pass, starts } of [...found].reverse()) {
    const possible = ordered ? starts.filter((start) => start + coreEnd <= nextStart) : starts;
    const start = possible.at(-1);
    if (start === undefined || possible.length !== 1) {
      const text = `the lines of the chunk at line ${chunk.line} of the patch match at lines ${places(possible)}`;
      throw new Unplaceable(`${text}: ambiguous. Add context lines or "@@ LINE ABOVE" so that one place is left.`);
    }
    if (ordered) nextStart = start;
    placed.unshift({ lines, start, pass });
  }
  return placed;
}

function findCandidates(matcher: LineMatcher, chunk: Chunk, cursor: number): Candidates {
  const end = matcher.lines.length;
  // A context line may lie above the cursor: two chunks in one function both name it.
  const scopes = chunk.contexts.reduce<readonly Scope[]>(
    (outer, context) => narrow(matcher, { outer, context, chunk }),
    [{ from: 0, sectionEnd: end, contextual: false }],
  );
  let lines = chunk.lines;
  for (;;) {
    const pattern = oldLines(lines);
    if (pattern.length === 0) {
      const inside = chunk.contexts.length > 0 && !chunk.endOfFile;
      const below = scopes.map((scope) => scope.from).filter((from) => from >= cursor);
      return { chunk, lines, coreEnd: 0, ordered: inside, pass: 'exact', starts: inside ? below : [end] };
    }
    const match = findInScopes(matcher, { pattern, scopes, cursor, endOfFile: chunk.endOfFile });
    if (match.starts.length > 0) return { chunk, lines, coreEnd: coreEnd(lines), ordered: true, ...match };
    const last = lines.at(-1);
    if (last === undefined || last.op !== ' ' || last.text.trim() !== '' || lines.length === 1) break;
    // An empty line before the next header is often no context at all.
    lines = lines.slice(0, -1);
  }
  throw new Unplaceable(missing(matcher, chunk, Math.max(cursor, scopes[0]?.from ?? 0)));
}

function missing(matcher: LineMatcher, chunk: Chunk, from: number): string {
  const pattern = oldLines(chunk.lines);
  const subject = `the lines of the chunk at line ${chunk.line} of the patch`;
  const anywhere = matcher.find(pattern, { from: 0, to: matcher.lines.length });
  return anywhere.starts.length > 0
    ? `${subject} match at line ${places(anywhere.starts)}, but not below line ${from}, where the context or the chunk before ends. Give chunks in the order of the file.`
    : `${subject} are not in the file. ${describeNearMiss(matcher.lines, pattern)}`;
}

function coreEnd(lines: readonly PatchLine[]): number {
  return oldLines(lines.slice(0, lines.findLastIndex((line) => line.op !== ' ') + 1)).length;
}

function narrow(
  matcher: LineMatcher,
  { outer, context, chunk }: { outer: readonly Scope[]; context: string; chunk: Chunk },
): readonly Scope[] {
  const found = findInScopes(matcher, { pattern: [context], scopes: outer, cursor: 0, endOfFile: false }).starts;
  const subject = `the context "@@ ${context}" at line ${chunk.line} of the patch`;
  if (found.length === 0) {
    throw new Unplaceable(`${subject} is not in the file. ${describeNearMiss(matcher.lines, [context])}`);
  }
  if (found.length > MAX_CONTEXTS) throw new Unplaceable(`${subject} matches at lines ${places(found)}: ambiguous.`);
  return found.map((at) => ({ from: at + 1, sectionEnd: sectionEnd(matcher.lines, at), contextual: true }));
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** End of the lines below `at` that are indented deeper, as bodies are in most languages. */
function sectionEnd(lines: readonly string[], at: number): number {
  const indent = indentOf(lines[at] ?? '');
  let end = at + 1;
  for (
    let line = lines[end];
    line !== undefined && (line.trim() === '' || indentOf(line) > indent);
    line = lines[end]
  ) {
    end += 1;
  }
  return end;
}

/** Nearest reading first: right below a context line, then in its section, then anywhere after the first of them. */
function findInScopes(
  matcher: LineMatcher,
  where: { pattern: readonly string[]; scopes: readonly Scope[]; cursor: number; endOfFile: boolean },
): { pass: PassName; starts: readonly number[] } {
  const { pattern, scopes } = where;
  const end = matcher.lines.length;
  const from = Math.max(where.cursor, scopes[0]?.from ?? 0);
  if (where.endOfFile) {
    const tail = matcher.find(pattern, { from: Math.max(from, end - pattern.length), to: end });
    if (tail.starts.length > 0) return tail;
  }
  const match = matcher.find(pattern, { from, to: end });
  const readings = [
    match.starts.filter((start) => scopes.some((scope) => scope.contextual && start === scope.from)),
    match.starts.filter((start) => scopes.some((scope) => start >= scope.from && start < scope.sectionEnd)),
  ];
  return { pass: match.pass, starts: readings.find((starts) => starts.length > 0) ?? match.starts };
}
