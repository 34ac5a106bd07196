import { isForeign } from './plain-json.ts';
import { disarmJson } from './visible-text.ts';

/**
 * What was cut out of one place: characters (UTF-16 units) of a string, entries of an array or object; for foreign JSON that had to go
 * as a whole, characters of its text.
 */
export interface Cut {
  /** JSON pointer into the line as it is written. */
  path: string;
  omitted: number;
}

/** The least that is kept of a string, in bytes of JSON. */
const MIN_STRING_BYTES = 256;
/** How many entries an array may keep, tried in this order once short strings alone are too many. */
const ENTRY_LIMITS = [Number.POSITIVE_INFINITY, 4096, 512, 64, 8];
/** More than any object of the format has: only foreign objects lose entries. */
const MIN_OBJECT_ENTRIES = 64;

/**
 * Makes the JSON of an object fit by cutting its longest strings (head and tail stay), then, if that is not enough, the middle of its
 * longest arrays and objects, then all foreign JSON. Returns the object with `cut` added and its JSON.
 */
export function cutToFit<T extends object>(value: T, maxBytes: number): { value: T & { cut: Cut[] }; json: string } {
  const attempt = (maxStringBytes: number, maxEntries: number, keepForeign = true) => {
    const cut: Cut[] = [];
    // Cutting keeps the shape: strings stay strings, arrays arrays.
    const kept = { ...(shorten(value, '', { maxStringBytes, maxEntries, keepForeign, cut }) as T), cut };
    return { value: kept, json: toJson(kept) };
  };
  for (const maxEntries of ENTRY_LIMITS) {
    let best = attempt(MIN_STRING_BYTES, maxEntries);
    if (Buffer.byteLength(best.json) > maxBytes) continue;
    let low = MIN_STRING_BYTES;
    let high = maxBytes;
    while (high - low > maxBytes / 128) {
      const middle = Math.floor((low + high) / 2);
      const candidate = attempt(middle, maxEntries);
      if (Buffer.byteLength(candidate.json) > maxBytes) high = middle;
      else {
        low = middle;
        best = candidate;
      }
    }
    return best;
  }
  const least = attempt(MIN_STRING_BYTES, ENTRY_LIMITS.at(-1) ?? 0, false);
  if (Buffer.byteLength(least.json) > maxBytes) throw new Error(`bug: an event cannot be cut to ${maxBytes} bytes`);
  return least;
}

/** JSON on one line for every reader: U+2028 and U+2029 end a line in JavaScript and in some log viewers, and CI systems read commands in it. */
export function toJson(value: unknown): string {
  return escapeForReaders(JSON.stringify(value));
}

/** JSON for people, of many lines, with the last one's end. */
export function renderJson(value: unknown): string {
  return `${escapeForReaders(JSON.stringify(value, null, 2))}\n`;
}

function escapeForReaders(json: string): string {
  return disarmJson(json).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

interface Limits {
  maxStringBytes: number;
  maxEntries: number;
  keepForeign: boolean;
  cut: Cut[];
}

function shorten(value: unknown, path: string, limits: Limits): unknown {
  if (typeof value === 'string') {
    const { text, omitted } = cutString(value, limits.maxStringBytes);
    if (omitted > 0) limits.cut.push({ path, omitted });
    return text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return keepEnds(value, path, limits).map((entry, i) => shorten(entry, `${path}/${i}`, limits));
  }
  const maxEntries = Math.max(limits.maxEntries, MIN_OBJECT_ENTRIES);
  const entries = keepEnds(Object.entries(value), path, { ...limits, maxEntries });
  return Object.fromEntries(
    entries.map(([key, entry]) => {
      const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const drop = !limits.keepForeign && typeof entry === 'object' && isForeign(value, key);
      return [key, drop ? dropForeign(entry, at, limits) : shorten(entry, at, limits)];
    }),
  );
}

function keepEnds<T>(entries: readonly T[], path: string, { maxEntries, cut }: Limits): readonly T[] {
  if (entries.length <= maxEntries) return entries;
  cut.push({ path, omitted: entries.length - maxEntries });
  return [...entries.slice(0, maxEntries / 2), ...entries.slice(entries.length - maxEntries / 2)];
}

function dropForeign(value: unknown, path: string, { cut }: Limits): string {
  const omitted = JSON.stringify(value).length;
  cut.push({ path, omitted });
  return remark(omitted);
}

/** Head and tail of a text with a remark between them; `omitted` counts the characters that are gone. */
function cutString(text: string, maxBytes: number): { text: string; omitted: number } {
  if (text.length * 6 <= maxBytes || !isOver(text, maxBytes)) return { text, omitted: 0 };
  const half = Math.floor((maxBytes - remark(text.length).length) / 2);
  let headEnd = 0;
  for (let bytes = 0; headEnd < text.length; headEnd++) {
    bytes += jsonBytesAt(text, headEnd);
    if (bytes > half) break;
  }
  let tailStart = text.length;
  for (let bytes = 0; tailStart > headEnd; tailStart--) {
    bytes += jsonBytesAt(text, tailStart - 1);
    if (bytes > half) break;
  }
  if (isLowSurrogate(text, headEnd)) headEnd--;
  if (isLowSurrogate(text, tailStart)) tailStart++;
  const omitted = tailStart - headEnd;
  return { text: `${text.slice(0, headEnd)}${remark(omitted)}${text.slice(tailStart)}`, omitted };
}

const remark = (omitted: number) => `[... ${omitted} characters cut ...]`;

function isOver(text: string, maxBytes: number): boolean {
  let bytes = 0;
  for (let i = 0; i < text.length && bytes <= maxBytes; i++) bytes += jsonBytesAt(text, i);
  return bytes > maxBytes;
}

/** Bytes that a UTF-16 unit of a well-formed text takes in `toJson`; each half of a pair counts two. */
function jsonBytesAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit === 0x22 || unit === 0x5c || (unit >= 0x08 && unit <= 0x0d && unit !== 0x0b)) return 2;
  if (unit < 0x20 || unit === 0x2028 || unit === 0x2029) return 6;
  // The second one of `##` may be escaped.
  if (unit === 0x23 && at > 0 && text.charCodeAt(at - 1) === 0x23) return 6;
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

const isLowSurrogate = (text: string, at: number) => text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff;
