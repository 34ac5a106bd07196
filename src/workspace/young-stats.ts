export interface YoungStatsQuery {
  /** 20 or 32. */
  hashBytes: number;
  /** In seconds since the epoch. */
  sinceS: number;
}

export interface YoungStats {
  /** Where in the index the time of change of an entry or a folder lies that is not older than asked for: seconds, 4 bytes. */
  places: readonly number[];
  /** Id of the shared index that this one only says the differences from; null where it is whole. */
  base: string | null;
}

/**
 * Reads an index of git's (its `gitformat-index`, versions 2 to 4) for nothing but its stat data: that of the entries, and that of the
 * folders in the untracked cache. null where the form is another one.
 */
export const findYoungStats = (index: Buffer, query: YoungStatsQuery): YoungStats | null => {
  const { hashBytes } = query;
  const end = index.length - hashBytes;
  if (end < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  const places: number[] = [];
  let at = skipEntries(index, query, places);
  let base: string | null = null;
  while (at !== null && at + EXTENSION_BYTES <= end) {
    const name = index.toString('latin1', at, at + 4);
    const from = at + EXTENSION_BYTES;
    at = from + index.readUInt32BE(at + 4);
    if (at > end) return null;
    if (name === 'link') base = index.toString('hex', from, from + hashBytes);
    if (name === 'UNTR' && !noteFolders(index.subarray(from, at), query, { offset: from, places })) return null;
  }
  return at === null ? null : { places, base: base === null || /^0+$/.test(base) ? null : base };
};

const HEADER_BYTES = 12;
const EXTENSION_BYTES = 8;
/** Times, device, inode, mode, owner and size of an entry; its id comes next. */
const ENTRY_STAT_BYTES = 40;
const IS_EXTENDED = 0x40;

/** Returns where the extensions begin. */
const skipEntries = (index: Buffer, { hashBytes, sinceS }: YoungStatsQuery, places: number[]): number | null => {
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flags = at + ENTRY_STAT_BYTES + hashBytes;
    if (flags + 2 > index.length - hashBytes) return null;
    if (index.readUInt32BE(at) >= sinceS) places.push(at);
    let name = flags + ((index.readUInt8(flags) & IS_EXTENDED) === 0 ? 2 : 4);
    // Version 4: how much of the name before is not part of this one.
    if (version === 4) while (((index[name++] ?? 0) & 0x80) !== 0);
    const nul = index.indexOf(0, name);
    if (nul < 0) return null;
    at = version === 4 ? nul + 1 : at + ((nul - at + 8) & ~7);
  }
  return at;
};

const FOLDER_STAT_BYTES = 36;

/** Whether the untracked cache has the form that is known. */
const noteFolders = (
  cache: Buffer,
  { hashBytes, sinceS }: YoungStatsQuery,
  { offset, places }: { offset: number; places: number[] },
): boolean => {
  let at = 0;
  const number = (): number => {
    let byte = cache[at++] ?? 0;
    let value = byte & 0x7f;
    while ((byte & 0x80) !== 0) {
      byte = cache[at++] ?? 0;
      value = (value + 1) * 128 + (byte & 0x7f);
    }
    return value;
  };
  const skipText = (): boolean => {
    const nul = cache.indexOf(0, at);
    at = nul + 1;
    return nul >= 0;
  };
  const identity = number();
  // Stat data and ids of the two files of rules outside of the tree, and the flags.
  at += identity + 2 * FOLDER_STAT_BYTES + 4 + 2 * hashBytes;
  if (!skipText()) return false;
  const folders = number();
  if (folders === 0) return true;
  for (let left = folders; left > 0; left -= 1) {
    const untracked = number();
    number();
    for (let names = 1 + untracked; names > 0; names -= 1) if (!skipText()) return false;
  }
  const counts: number[] = [];
  // Which folders have stat data, are only asked whether they are empty, have rules.
  for (let map = 0; map < 3; map += 1) {
    const found = countBits(cache, at);
    if (found === null) return false;
    counts.push(found.count);
    at = found.end;
  }
  const [stats = 0, , ids = 0] = counts;
  if (at + stats * FOLDER_STAT_BYTES + ids * hashBytes + 1 !== cache.length) return false;
  for (let left = stats; left > 0; left -= 1, at += FOLDER_STAT_BYTES)
    if (cache.readUInt32BE(at) >= sinceS) places.push(offset + at);
  return true;
};

const WORD_BYTES = 8;

/** Of an EWAH bitmap: words of 64 bits, in runs of equal ones with as many literal ones after them as the first word says. */
const countBits = (bytes: Buffer, from: number): { count: number; end: number } | null => {
  if (from + 8 > bytes.length) return null;
  const first = from + 8;
  const last = first + bytes.readUInt32BE(from + 4) * WORD_BYTES;
  if (last + 4 > bytes.length) return null;
  let count = 0;
  for (let at = first; at < last; ) {
    const marker = bytes.readBigUInt64BE(at);
    const literal = Number(marker >> 33n);
    if ((marker & 1n) === 1n) count += 64 * Number((marker >> 1n) & 0xffff_ffffn);
    at += WORD_BYTES;
    if (at + literal * WORD_BYTES > last) return null;
    for (const end = at + literal * WORD_BYTES; at < end; at += 1) count += bitsOf(bytes.readUInt8(at));
  }
  return { count, end: last + 4 };
};

const bitsOf = (byte: number): number => {
  let count = 0;
  for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  return count;
};
