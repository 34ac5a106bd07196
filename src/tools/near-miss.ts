import { foldPunctuation } from './match-lines.ts';

const MAX_COMMON_POSITIONS = 200;
const MAX_SCANNED_LINES = 50_000;
const MAX_SHOWN_LINES = 12;
const MAX_SHOWN_CHARS = 160;

const clip = (line: string): string => (line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}…` : line);

/** Where most lines of the pattern stand in the right distance from each other; null: none of them is there. */
function bestWindow(lines: readonly string[], pattern: readonly string[]): number | null {
  const wanted = new Map<string, number[]>();
  pattern.forEach((line, offset) => {
    const folded = foldPunctuation(line);
    if (folded !== '') wanted.set(folded, [...(wanted.get(folded) ?? []), offset].slice(0, MAX_COMMON_POSITIONS));
  });
  const votes = new Map<number, number>();
  const seen = new Map<string, number>();
  lines.forEach((line, at) => {
    const folded = foldPunctuation(line);
    const offsets = wanted.get(folded);
    if (offsets === undefined) return;
    const times = (seen.get(folded) ?? 0) + 1;
    seen.set(folded, times);
    // A brace that stands everywhere says nothing about the place.
    if (times > MAX_COMMON_POSITIONS) return;
    for (const offset of offsets) votes.set(at - offset, (votes.get(at - offset) ?? 0) + 1);
  });
  let best: number | null = null;
  for (const [start, count] of votes) {
    if (best === null || count > (votes.get(best) ?? 0)) best = start;
  }
  return best;
}

function words(line: string): Set<string> {
  return new Set(clip(line).match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []);
}

/** The line that shares most words with the one wanted, if it is at least half alike. */
function mostSimilarLine(lines: readonly string[], wanted: string): number | null {
  const target = words(wanted);
  let best: { at: number; score: number } | null = null;
  for (const [at, line] of lines.slice(0, MAX_SCANNED_LINES).entries()) {
    const candidate = words(line);
    let shared = 0;
    for (const word of candidate) if (target.has(word)) shared += 1;
    const score = (2 * shared) / (candidate.size + target.size || 1);
    if (score >= 0.5 && score > (best?.score ?? 0)) best = { at, score };
  }
  return best?.at ?? null;
}

/**
 * What stands in the file where lines were expected and not found: words for the model, of bounded length. The first line
 * that differs is named with both readings.
 */
export function describeNearMiss(lines: readonly string[], pattern: readonly string[]): string {
  const firstWanted = pattern.findIndex((line) => line.trim() !== '');
  if (firstWanted === -1) return 'There are not that many empty lines in a row.';
  const similar = (): number | null => {
    const at = mostSimilarLine(lines, pattern[firstWanted] ?? '');
    return at === null ? null : at - firstWanted;
  };
  const start = bestWindow(lines, pattern) ?? similar();
  if (start === null) return 'Nothing in the file is like it. Read the file again.';
  const differs = (fold: (line: string) => string): number =>
    pattern.findIndex((line, offset) => fold(lines[start + offset] ?? '\0') !== fold(line));
  const [folded, exact] = [differs(foldPunctuation), differs((line) => line)];
  const differing = folded === -1 ? exact : folded;
  const at = Math.max(0, start + Math.max(differing, 0));
  const found = lines[at];
  const difference =
    found === undefined
      ? `line ${at + 1} is beyond the file's ${lines.length} lines`
      : `line ${at + 1} is ${JSON.stringify(clip(found))}`;
  const from = Math.max(0, at - 3);
  const window = lines.slice(from, Math.min(Math.max(start + pattern.length, from + 1), from + MAX_SHOWN_LINES));
  return [
    `The nearest place starts at line ${Math.max(start, 0) + 1}: ${difference}, expected ${JSON.stringify(clip(pattern[Math.max(differing, 0)] ?? ''))}. The file has:`,
    ...window.map((line, offset) => `${from + offset + 1}: ${clip(line)}`),
  ].join('\n');
}
