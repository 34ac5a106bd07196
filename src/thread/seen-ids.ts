import { createHash } from 'node:crypto';

const PAGE_BITS = 4_096;
/** 10 MB: eighty million items in a row. */
const MAX_PAGES = 20_000;
const MAX_OTHERS = 100_000;

/**
 * Ids of items, in bounded memory however many there are: a bit each for belay's own (`item_0`, `item_1` …), a digest each for the first
 * hundred thousand of others. What does not fit any more counts as never seen.
 */
export function createSeenIds() {
  const pages = new Map<number, Uint8Array>();
  const others = new Set<string>();

  return {
    has(id: string): boolean {
      const number = numberOf(id);
      if (number === null) return others.has(digestOf(id));
      const { page, byte, bit } = placeOf(number);
      return ((pages.get(page)?.[byte] ?? 0) & bit) !== 0;
    },
    add(id: string): void {
      const number = numberOf(id);
      if (number === null) {
        if (others.size < MAX_OTHERS) others.add(digestOf(id));
        return;
      }
      const { page, byte, bit } = placeOf(number);
      const known = pages.get(page);
      if (known === undefined && pages.size >= MAX_PAGES) return;
      const bits = known ?? new Uint8Array(PAGE_BITS / 8);
      bits[byte] = (bits[byte] ?? 0) | bit;
      if (known === undefined) pages.set(page, bits);
    },
  };
}

function numberOf(id: string): number | null {
  const digits = /^item_(0|[1-9]\d{0,14})$/.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
}

function placeOf(number: number) {
  const inPage = number % PAGE_BITS;
  return { page: Math.floor(number / PAGE_BITS), byte: inPage >> 3, bit: 1 << (inPage & 7) };
}

const digestOf = (id: string) => createHash('sha256').update(id).digest('base64').slice(0, 22);
