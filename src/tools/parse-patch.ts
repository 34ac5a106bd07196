/*
 * The public patch format:
 *
 *   patch   = "*** Begin Patch" [ "*** Environment ID: " id ] hunk+ "*** End Patch"
 *   hunk    = "*** Add File: " path ( "+" line )*
 *           | "*** Delete File: " path
 *           | "*** Update File: " path [ "*** Move to: " path ] chunk*
 *   chunk   = ( "@@" [ " " context ] )* ( (" " | "+" | "-") line )+ [ "*** End of File" ]
 *
 * Tolerated: white space around markers and headers, a heredoc around the whole, an update's first chunk without `@@`, empty
 * lines between hunks, an empty line for an empty context line, the line numbers of unified diffs (not used).
 */

export interface PatchLine {
  op: ' ' | '+' | '-';
  text: string;
}

export interface Chunk {
  /** Lines above the change, outermost first, that narrow where it goes. */
  contexts: readonly string[];
  lines: readonly PatchLine[];
  endOfFile: boolean;
  /** 1-based line of the patch where the chunk starts. */
  line: number;
}

export type Hunk =
  | { kind: 'add'; path: string; lines: readonly string[] }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo: string | null; chunks: readonly Chunk[] };

export type ParsedPatch = { kind: 'parsed'; hunks: readonly Hunk[] } | { kind: 'invalid'; reason: string };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const ENVIRONMENT = '*** Environment ID:';
const END_OF_FILE = '*** End of File';
const HEREDOC = /^(?:apply_patch\s+)?<<-?\s*(['"]?)(\w+)\1$/u;
const UNIFIED_RANGE = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@/u;

/** Lines yet to be read, with the line number for messages. */
interface Cursor {
  lines: readonly string[];
  next: number;
  firstLine: number;
}

const peek = (cursor: Cursor): string | undefined => cursor.lines[cursor.next];
const lineNumber = (cursor: Cursor): number => cursor.firstLine + cursor.next;
const quoted = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);

class InvalidPatch extends Error {}

/** Reads a patch; never throws. Reasons name the line of the patch. */
export function parsePatch(text: string): ParsedPatch {
  try {
    return { kind: 'parsed', hunks: parseHunks(unwrap(text)) };
  } catch (error) {
    if (error instanceof InvalidPatch) return { kind: 'invalid', reason: error.message };
    throw error;
  }
}

function unwrap(text: string): Cursor {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  let first = 0;
  let last = lines.length - 1;
  const trimBlank = (): void => {
    while (first <= last && lines[first]?.trim() === '') first += 1;
    while (last >= first && lines[last]?.trim() === '') last -= 1;
  };
  trimBlank();
  const heredoc = HEREDOC.exec(lines[first]?.trim() ?? '');
  if (heredoc !== null && last > first && lines[last]?.trim() === heredoc[2]) {
    first += 1;
    last -= 1;
    trimBlank();
  }
  if (lines[first]?.trim() !== BEGIN) {
    throw new InvalidPatch(`the first line must be ${quoted(BEGIN)}, it is ${quoted(lines[first] ?? '')}`);
  }
  if (last === first || lines[last]?.trim() !== END) {
    throw new InvalidPatch(
      `the last line must be ${quoted(END)}, it is ${quoted(lines[last] ?? '')}: nothing was applied`,
    );
  }
  return { lines: lines.slice(first + 1, last), next: 0, firstLine: first + 2 };
}

function parseHunks(cursor: Cursor): Hunk[] {
  if (peek(cursor)?.trim().startsWith(ENVIRONMENT) === true) cursor.next += 1;
  const hunks: Hunk[] = [];
  for (let line = peek(cursor); line !== undefined; line = peek(cursor)) {
    if (line.trim() === '') cursor.next += 1;
    else hunks.push(parseHunk(cursor, line.trim()));
  }
  if (hunks.length === 0) throw new InvalidPatch('the patch is empty: it names no file');
  return hunks;
}

function parseHunk(cursor: Cursor, header: string): Hunk {
  const at = lineNumber(cursor);
  const pathAfter = (marker: string): string => {
    cursor.next += 1;
    const path = header.slice(marker.length).trim();
    if (path === '') throw new InvalidPatch(`line ${at}: ${quoted(header)} names no file`);
    return path;
  };
  // Trimmed headers have lost the space after a marker without a path.
  const is = (marker: string): boolean => header.startsWith(marker.trim());
  if (is(ADD)) return { kind: 'add', path: pathAfter(ADD), lines: parseAddedLines(cursor) };
  if (is(DELETE)) return { kind: 'delete', path: pathAfter(DELETE) };
  if (is(UPDATE)) {
    const path = pathAfter(UPDATE);
    const moveTo = parseMove(cursor);
    const chunks = parseChunks(cursor);
    if (chunks.length === 0 && moveTo === null) {
      throw new InvalidPatch(`line ${at}: the update of ${path} has no chunk`);
    }
    return { kind: 'update', path, moveTo, chunks };
  }
  throw new InvalidPatch(
    `line ${at}: ${quoted(header)} is no header; use "${ADD}PATH", "${DELETE}PATH" or "${UPDATE}PATH"`,
  );
}

function parseAddedLines(cursor: Cursor): string[] {
  const lines: string[] = [];
  for (let line = peek(cursor); line?.startsWith('+') === true; line = peek(cursor)) {
    lines.push(line.slice(1));
    cursor.next += 1;
  }
  return lines;
}

function parseMove(cursor: Cursor): string | null {
  const line = peek(cursor)?.trim() ?? '';
  if (!line.startsWith(MOVE.trim())) return null;
  const path = line.slice(MOVE.length).trim();
  if (path === '') throw new InvalidPatch(`line ${lineNumber(cursor)}: ${quoted(line)} names no file`);
  cursor.next += 1;
  return path;
}

function parseChunks(cursor: Cursor): Chunk[] {
  const chunks: Chunk[] = [];
  for (let line = peek(cursor); line !== undefined && !line.startsWith('***'); line = peek(cursor)) {
    if (line.trim() === '') cursor.next += 1;
    else chunks.push(parseChunk(cursor, chunks.length === 0));
  }
  return chunks;
}

/** The `@@` lines that a chunk starts with; null: there is none. */
function parseContexts(cursor: Cursor): string[] | null {
  let contexts: string[] | null = null;
  for (let line = peek(cursor); line !== undefined; line = peek(cursor)) {
    const marker = line.trimEnd();
    if (marker !== '@@' && !marker.startsWith('@@ ')) break;
    const context = marker.slice(3);
    contexts ??= [];
    if (context.trim() !== '' && !UNIFIED_RANGE.test(context)) contexts.push(context);
    cursor.next += 1;
  }
  return contexts;
}

function parseChunk(cursor: Cursor, isFirst: boolean): Chunk {
  const at = lineNumber(cursor);
  const contexts = parseContexts(cursor);
  if (contexts === null && !isFirst) {
    throw new InvalidPatch(`line ${at}: ${quoted(peek(cursor) ?? '')} must start with "@@", " ", "+" or "-"`);
  }
  const lines: PatchLine[] = [];
  let endOfFile = false;
  for (let line = peek(cursor); line !== undefined; line = peek(cursor)) {
    if (line.trimEnd() === END_OF_FILE) {
      endOfFile = true;
      cursor.next += 1;
      break;
    }
    const op = line === '' ? ' ' : line[0];
    if (op !== ' ' && op !== '+' && op !== '-') break;
    lines.push({ op, text: line.slice(1) });
    cursor.next += 1;
  }
  if (lines.length === 0) {
    const found = peek(cursor);
    throw new InvalidPatch(
      found === undefined || endOfFile
        ? `line ${at}: the chunk has no lines`
        : `line ${lineNumber(cursor)}: ${quoted(found)} must start with " " (kept), "+" (added) or "-" (removed)`,
    );
  }
  return { contexts: contexts ?? [], lines, endOfFile, line: at };
}
