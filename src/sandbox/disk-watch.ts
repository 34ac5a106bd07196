import { lstatSync, readdirSync, type Stats, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';

const BLOCK_BYTES = 512;
/** When less than this is left on the disk, a command that took most of what is gone is ended before its bound. */
const RESERVE_BYTES = 256 * 1024 * 1024;
/** Bound of one look: a folder with more entries is judged by what was seen of it. */
const MAX_ENTRIES = 200_000;

export interface DiskWatch {
  isExceeded(pids: readonly number[]): boolean;
}

/**
 * Free space of the file systems, a cheap question, tells when to look; others write to them too, so what counts is what the command
 * itself wrote since it began: files that changed, and files without a name that its processes hold open.
 */
export function watchDisk(folders: readonly string[], maxBytes: number): DiskWatch {
  const startedAt = Date.now();
  const before = folders.map((folder) => freeBytes(folder));
  let lookAgainAt = 0;
  return {
    isExceeded(pids) {
      const free = folders.map((folder, index) => freeBytes(folder) ?? before[index] ?? Number.POSITIVE_INFINITY);
      const fell = Math.max(0, ...free.map((now, index) => (before[index] ?? now) - now));
      const isScarce = free.some((now) => now < RESERVE_BYTES) && fell > RESERVE_BYTES / 4;
      if ((fell <= maxBytes && !isScarce) || fell < lookAgainAt) return false;
      const wrote = writtenSince(startedAt, folders) + heldOpen(pids);
      // Others' doing so far: not before as much again is gone.
      lookAgainAt = fell + maxBytes / 4;
      return wrote > maxBytes || (isScarce && wrote > fell / 2);
    },
  };
}

/** Null where the folder cannot be looked at any more: whoever else took it away. */
function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}

function writtenSince(timeMs: number, folders: readonly string[]): number {
  let bytes = 0;
  const open = [...folders];
  for (let entries = 0; entries < MAX_ENTRIES; ) {
    const at = open.pop();
    if (at === undefined) return bytes;
    for (const name of namesIn(at)) {
      entries++;
      const file = path.join(at, name);
      const stat = ifThere(() => lstatSync(file));
      if (stat?.isDirectory()) open.push(file);
      // A second of grace: file systems keep coarser time than clocks do.
      else if (stat?.isFile() && stat.ctimeMs >= timeMs - 1000) bytes += stat.blocks * BLOCK_BYTES;
    }
  }
  return bytes;
}

function heldOpen(pids: readonly number[]): number {
  const seen = new Map<string, number>();
  for (const pid of pids)
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      const stat = ifThere(() => statSync(`/proc/${pid}/fd/${fd}`));
      if (stat?.isFile() && stat.nlink === 0) seen.set(`${stat.dev}:${stat.ino}`, stat.blocks * BLOCK_BYTES);
    }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== null) return [];
    throw error;
  }
}

/** What the command removes meanwhile, or belay may not see, counts for nothing. */
function ifThere(look: () => Stats): Stats | null {
  try {
    return look();
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
