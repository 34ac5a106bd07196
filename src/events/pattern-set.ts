/** Called for the longest pattern that ends at `end`; offsets count from the first byte that the scanner was given. */
export type OnMatch = (match: { start: number; end: number; pattern: number }) => void;

export interface Scanner {
  push(bytes: Uint8Array): void;
  /** How many of the last bytes may be the beginning of a pattern that goes on in bytes to come. */
  pendingBytes(): number;
}

export interface PatternSet {
  createScanner(onMatch: OnMatch): Scanner;
}

/**
 * Many byte patterns, each of at least two bytes, found in one pass: Aho–Corasick, linear in the input whatever the patterns are.
 * Nodes keep their children as a linked list: nearly all have one, and a dense table would need 1 KiB for each byte of each pattern.
 */
export function createPatternSet(patterns: readonly Uint8Array[]): PatternSet {
  const trie = buildTrie(patterns);
  const skip = buildSkipTable(patterns);
  return { createScanner: (onMatch) => createScanner({ trie, skip, lengths: patterns.map((p) => p.length) }, onMatch) };
}

interface Trie {
  rootChild: Int32Array;
  firstChild: Int32Array;
  sibling: Int32Array;
  byte: Uint8Array;
  depth: Int32Array;
  /** The longest proper suffix of a node that is itself a node. */
  fallback: Int32Array;
  /** The longest pattern that is a suffix of the node, or -1. */
  pattern: Int32Array;
}

function buildTrie(patterns: readonly Uint8Array[]): Trie {
  const size = patterns.reduce((sum, p) => sum + p.length, 1);
  const ints = () => new Int32Array(size);
  const trie: Trie = {
    rootChild: new Int32Array(256),
    firstChild: ints(),
    sibling: ints(),
    byte: new Uint8Array(size),
    depth: ints(),
    fallback: ints(),
    pattern: ints().fill(-1),
  };
  let count = 1;
  for (const [index, bytes] of patterns.entries()) {
    let node = 0;
    for (const byte of bytes) {
      let child = childOf(trie, node, byte);
      if (child === 0) {
        child = count++;
        trie.byte[child] = byte;
        trie.depth[child] = (trie.depth[node] ?? 0) + 1;
        if (node === 0) trie.rootChild[byte] = child;
        else {
          trie.sibling[child] = trie.firstChild[node] ?? 0;
          trie.firstChild[node] = child;
        }
      }
      node = child;
    }
    if (trie.pattern[node] === -1) trie.pattern[node] = index;
  }
  linkFallbacks(trie);
  return trie;
}

function childOf(trie: Trie, node: number, byte: number): number {
  if (node === 0) return trie.rootChild[byte] ?? 0;
  let child = trie.firstChild[node] ?? 0;
  while (child !== 0 && trie.byte[child] !== byte) child = trie.sibling[child] ?? 0;
  return child;
}

/** Breadth first: a fallback is always nearer to the root than its node, hence ready before it is needed. */
function linkFallbacks(trie: Trie): void {
  const queue = [...trie.rootChild].filter((node) => node !== 0);
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head] ?? 0;
    for (let child = trie.firstChild[node] ?? 0; child !== 0; child = trie.sibling[child] ?? 0) {
      const byte = trie.byte[child] ?? 0;
      let at = trie.fallback[node] ?? 0;
      while (at !== 0 && childOf(trie, at, byte) === 0) at = trie.fallback[at] ?? 0;
      const fallback = childOf(trie, at, byte);
      trie.fallback[child] = fallback;
      if (trie.pattern[child] === -1) trie.pattern[child] = trie.pattern[fallback] ?? -1;
      queue.push(child);
    }
  }
}

interface SkipTable {
  /** Length of the shortest pattern. */
  window: number;
  /** By the last two bytes of a window: how far the window may move without passing the start of a pattern. */
  shift: Uint8Array;
}

function buildSkipTable(patterns: readonly Uint8Array[]): SkipTable {
  const window = Math.min(255, ...patterns.map((p) => p.length));
  const shift = new Uint8Array(65_536).fill(window - 1);
  for (const bytes of patterns)
    for (let i = 0; i + 1 < window; i++) {
      const block = (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8);
      shift[block] = Math.min(shift[block] ?? 0, window - 2 - i);
    }
  return { window, shift };
}

function createScanner(
  { trie, skip, lengths }: { trie: Trie; skip: SkipTable; lengths: readonly number[] },
  onMatch: OnMatch,
): Scanner {
  let state = 0;
  let offset = 0;
  return {
    push(bytes) {
      const { window, shift } = skip;
      const last = bytes.length - window;
      let at = state;
      let i = 0;
      while (i < bytes.length) {
        if (at === 0) {
          while (i <= last) {
            const step = shift[(bytes[i + window - 2] ?? 0) | ((bytes[i + window - 1] ?? 0) << 8)] ?? 0;
            if (step === 0) break;
            i += step;
          }
        }
        const byte = bytes[i] ?? 0;
        let next = childOf(trie, at, byte);
        while (next === 0 && at !== 0) {
          at = trie.fallback[at] ?? 0;
          next = childOf(trie, at, byte);
        }
        at = next;
        i++;
        const pattern = trie.pattern[at] ?? -1;
        if (pattern !== -1) onMatch({ start: offset + i - (lengths[pattern] ?? 0), end: offset + i, pattern });
      }
      state = at;
      offset += bytes.length;
    },
    pendingBytes() {
      // A pattern that ends here and begins none longer is not the beginning of anything; a suffix of it may be.
      let at = state;
      while (at !== 0 && trie.firstChild[at] === 0) at = trie.fallback[at] ?? 0;
      return trie.depth[at] ?? 0;
    },
  };
}
