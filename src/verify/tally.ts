/** null: the runner was not seen; `gap`: it was, but its output leaves tests out, so there is no count. */
export type Count = number | 'gap' | null;

/** Counts the tests that one kind of runner says it ran. Lines come without colour codes and without their end. */
export interface Tally {
  /** Whether the line is this runner's. */
  read(line: string): boolean;
  total(): Count;
}

/** How one line changes a count; null: the line is not this runner's. */
export type Delta = (line: string) => number | null;

interface LineTally extends Tally {
  total(): number | null;
}

/** A tally of lines that each stand for themselves. `head` lines say that the runner is there; `rest` counts only after one. */
export function createLineTally(head: Delta, rest: Delta = () => null): LineTally {
  let run: number | null = null;
  return {
    read(line) {
      const first = head(line);
      const delta = first ?? (run === null ? null : rest(line));
      if (delta === null) return false;
      run = (run ?? 0) + delta;
      return true;
    },
    total: () => (run === null ? null : Math.max(0, run)),
  };
}

/** The number in the given group of a match, 0 where the group is missing. */
export function numberIn(match: RegExpExecArray, group: number): number {
  return Number(match[group] ?? 0);
}

/** `3 passed, 1 skipped` → its parts; null when a part has another form. */
export function parseCounts(text: string, separator: string): ReadonlyMap<string, number> | null {
  const counts = new Map<string, number>();
  for (const part of text.split(separator)) {
    const match = /^(\d{1,9}) ([a-z]{1,20}(?: [a-z]{1,20})?)$/.exec(part.trim());
    if (match === null) return null;
    const word = match[2] ?? '';
    counts.set(word, (counts.get(word) ?? 0) + numberIn(match, 1));
  }
  return counts;
}

export function sumOf(counts: ReadonlyMap<string, number>, words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
}
