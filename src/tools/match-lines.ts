import { decodedFrom, type FileText } from './file-text.ts';

/** How much a match overlooks, strictest first. Line ends are never part of a comparison. */
const PASSES = [
  { name: 'exact', fold: (line: string) => line },
  { name: 'trailing white space', fold: (line: string) => line.trimEnd() },
  { name: 'indentation', fold: (line: string) => line.trim() },
  { name: 'punctuation', fold: foldPunctuation },
] as const;

export type PassName = (typeof PASSES)[number]['name'];

/** Typographic dashes, quotes and spaces as their ASCII relatives, on top of trimming. */
export function foldPunctuation(line: string): string {
  return line
    .trim()
    .replace(/[\u2010-\u2015\u2212]/gu, '-')
    .replace(/[\u2018-\u201b]/gu, "'")
    .replace(/[\u201c-\u201f]/gu, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/gu, ' ');
}

/** Where lines match: 0-based first lines in ascending order, of the strictest pass that matches at all; empty: nowhere. */
export interface LineMatches {
  pass: PassName;
  starts: readonly number[];
}

/** Lines `from` (included) to `to` (excluded) of a file. */
export interface LineRange {
  from: number;
  to: number;
}

export interface LineMatcher {
  readonly lines: readonly string[];
  /** Where the pattern (at least one line) lies wholly in the range. */
  find(pattern: readonly string[], range: LineRange): LineMatches;
}

/** More places than this are as ambiguous as this many. */
const MAX_STARTS = 10_000;

interface LineIndex {
  folded: readonly string[];
  positions: ReadonlyMap<string, readonly number[]>;
}

function indexLines(lines: readonly string[], fold: (line: string) => string): LineIndex {
  const folded = fold === PASSES[0].fold ? lines : lines.map(fold);
  const positions = new Map<string, number[]>();
  folded.forEach((line, at) => {
    const known = positions.get(line);
    if (known === undefined) positions.set(line, [at]);
    else known.push(at);
  });
  return { folded, positions };
}

function findInIndex(index: LineIndex, pattern: readonly string[], range: LineRange): number[] {
  const NOWHERE: readonly number[] = [];
  let rarest = { offset: 0, positions: index.positions.get(pattern[0] ?? '') ?? NOWHERE };
  pattern.forEach((line, offset) => {
    const positions = index.positions.get(line) ?? NOWHERE;
    if (positions.length < rarest.positions.length) rarest = { offset, positions };
  });
  const starts: number[] = [];
  for (const position of rarest.positions) {
    const start = position - rarest.offset;
    if (start < range.from || start + pattern.length > range.to) continue;
    if (pattern.every((line, offset) => index.folded[start + offset] === line)) starts.push(start);
    if (starts.length === MAX_STARTS) break;
  }
  return starts;
}

/** Indexes a file's lines as far as matches need it, so that a patch of many chunks stays linear. */
export function createLineMatcher(file: FileText): LineMatcher {
  const lines = file.lines.map((line) => decodedFrom(file, line));
  const indexes = new Map<PassName, LineIndex>();
  return {
    lines,
    find: (pattern, range) => {
      for (const pass of PASSES) {
        const index = indexes.get(pass.name) ?? indexLines(lines, pass.fold);
        indexes.set(pass.name, index);
        const starts = findInIndex(index, pattern.map(pass.fold), range);
        if (starts.length > 0) return { pass: pass.name, starts };
      }
      return { pass: 'exact', starts: [] };
    },
  };
}
