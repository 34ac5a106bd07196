import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isWithin } from './is-within.ts';
import { reachedOrNull } from './stat-or-null.ts';
import type { SystemView } from './system-view.ts';

/** One hierarchy and what may be done below it: bits of `LANDLOCK_ACCESS_FS_*` in `linux/landlock.h`. */
export interface LandlockRule {
  path: string;
  access: number;
}

/** First version that can keep a file outside from being truncated, and from being linked or moved in. */
export const LEAST_LANDLOCK_ABI = 3;
/** First version that keeps signals and abstract sockets inside. */
export const SIGNAL_SCOPE_ABI = 6;

const EXECUTE = 1 << 0;
export const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIR = 1 << 3;
const MAKE_CHAR = 1 << 6;
const MAKE_BLOCK = 1 << 11;
const TRUNCATE = 1 << 14;
const IOCTL_DEV = 1 << 15;
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
const BIND_AND_CONNECT_TCP = 3;
const SCOPE_SOCKETS_AND_SIGNALS = 3;

/** All file system rights that version `abi` knows: each is refused but for what a rule gives. */
function handledAccess(abi: number): number {
  return (1 << 13) - 1 + (1 << 13) + TRUNCATE + (abi >= 5 ? IOCTL_DEV : 0);
}

/** `struct landlock_ruleset_attr`: as long as the kernel's version knows it. */
export function landlockRuleset(abi: number): Buffer {
  const words = [handledAccess(abi)];
  if (abi >= 4) words.push(BIND_AND_CONNECT_TCP);
  if (abi >= SIGNAL_SCOPE_ABI) words.push(SCOPE_SOCKETS_AND_SIGNALS);
  const bytes = Buffer.alloc(words.length * 8);
  for (const [index, word] of words.entries()) bytes.writeBigUInt64LE(BigInt(word), index * 8);
  return bytes;
}

const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];

export interface LandlockView {
  view: SystemView;
  read: readonly string[];
  write: readonly string[];
}

/** The rules of one command. A path that is not there gets none. */
export function landlockRules({ view, read, write }: LandlockView, abi: number): LandlockRule[] {
  const readable = [
    ...view.folders.flatMap((folder) => around(folder, view.masked)),
    ...view.extras.map(({ from }) => from),
    '/proc',
    ...read,
  ];
  const writing = handledAccess(abi) & ~MAKE_CHAR & ~MAKE_BLOCK & ~IOCTL_DEV;
  return [
    ...readable.flatMap((place) => ruleOf(place, EXECUTE | READ_FILE | READ_DIR)),
    ...write.flatMap((place) => ruleOf(place, writing)),
    ...DEVICES.flatMap((place) => ruleOf(place, (READ_FILE | WRITE_FILE | IOCTL_DEV) & handledAccess(abi))),
  ];
}

function ruleOf(place: string, access: number): LandlockRule[] {
  const stat = reachedOrNull(place);
  if (stat === null) return [];
  return [{ path: place, access: stat.isDirectory() ? access : access & OF_FILES }];
}

/** A rule cannot leave anything out: a folder that holds a masked one is given entry by entry. */
function around(folder: string, masked: readonly string[]): string[] {
  if (masked.includes(folder)) return [];
  if (!masked.some((hidden) => isWithin(folder, hidden))) return [folder];
  return readdirSync(folder).flatMap((name) => around(path.join(folder, name), masked));
}
