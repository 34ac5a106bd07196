import type { Omission } from '../events/index.ts';

export interface BoundedText {
  /** Head, a note where something is missing, tail. */
  text: string;
  /** null when nothing is missing. */
  omission: Omission | null;
}

export interface HeadTailBuffer {
  write(chunk: Buffer): void;
  /** `note` words the gap; it is given the exact omission. */
  read(note: (omission: Omission) => string): BoundedText;
}

/** How many of the first bytes are whole UTF-8 characters. */
function wholeCharacters(bytes: Buffer): number {
  for (let i = bytes.length - 1; i >= Math.max(0, bytes.length - 4); i--) {
    const byte = bytes[i] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return i + length > bytes.length ? i : bytes.length;
  }
  return bytes.length;
}

/** First position at or after `at` where a UTF-8 character begins. */
function startOfCharacter(bytes: Buffer, at: number): number {
  let i = at;
  while (i < bytes.length && i < at + 4 && ((bytes[i] ?? 0) & 0xc0) === 0x80) i++;
  return i;
}

/** Keeps the first and the last half of `maxBytes` of a stream of any length, in memory of that order. */
export function createHeadTailBuffer(maxBytes: number): HeadTailBuffer {
  const headMax = Math.ceil(maxBytes / 2);
  const tailMax = maxBytes - headMax;
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;

  function trimTail(): void {
    if (tailBytes <= 2 * tailMax + 65_536) return;
    const all = Buffer.concat(tail);
    const kept = Buffer.from(all.subarray(all.length - tailMax));
    tail = [kept];
    tailBytes = kept.length;
  }

  return {
    write(chunk) {
      total += chunk.length;
      let rest = chunk;
      if (headBytes < headMax) {
        const part = rest.subarray(0, headMax - headBytes);
        head.push(Buffer.from(part));
        headBytes += part.length;
        rest = rest.subarray(part.length);
      }
      if (rest.length === 0) return;
      if (rest.length >= tailMax) {
        tail = [];
        tailBytes = 0;
        rest = rest.subarray(rest.length - tailMax);
      }
      tail.push(Buffer.from(rest));
      tailBytes += rest.length;
      trimTail();
    },
    read(note) {
      const first = Buffer.concat(head);
      const last = Buffer.concat(tail);
      if (total <= maxBytes) return { text: Buffer.concat([first, last]).toString('utf8'), omission: null };
      const start = wholeCharacters(first);
      const end = startOfCharacter(last, Math.max(0, last.length - tailMax));
      const tailText = last.subarray(end);
      const omission: Omission = {
        total_bytes: total,
        omitted_bytes: total - start - tailText.length,
        omitted_from: start,
      };
      return {
        text: `${first.subarray(0, start).toString('utf8')}${note(omission)}${tailText.toString('utf8')}`,
        omission,
      };
    },
  };
}

/** The head and the tail of a text that is there as a whole. */
export function boundText(text: string, maxBytes: number, note: (omission: Omission) => string): string {
  const buffer = createHeadTailBuffer(maxBytes);
  buffer.write(Buffer.from(text));
  return buffer.read(note).text;
}
