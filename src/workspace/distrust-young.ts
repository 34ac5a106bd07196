import { closeSync, openSync, readFileSync, statSync, utimesSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../errors.ts';
import { TICK_MS } from '../sandbox/index.ts';
import { type Git, type GitResult, gitOf } from './git.ts';
import { findYoungStats } from './young-stats.ts';

/** No file is older: git reads every one of an index of that time. */
const OLDEST_S = 1;

/**
 * git, as most systems build it, compares times of change in whole seconds: a file (or, in its untracked cache, a folder) that changes
 * once more in the second in which git looked at it, with its size kept and its time of modification put back, is the same to git, now
 * and ever after. So whenever git has written the index, the time of change of each entry as young as that goes from it: git reads the
 * contents of those again, and of no others.
 */
export const distrustYoung = (git: Git, { indexFile, hashBytes }: { indexFile: string; hashBytes: number }): Git => {
  const running = new Set<{ sinceMs: number }>();
  let known: string | null = null;
  let knownBase: string | null = null;
  /** `sinceMs`: before git looked at the first file of which the index may tell anew. */
  const look = (sinceMs: number): void => {
    if (identify(indexFile) === known) return;
    // A time stamp may be a tick older than the clock.
    const query = { hashBytes, sinceS: Math.floor((sinceMs - TICK_MS) / 1000) };
    const base = forgetYoung(indexFile, query);
    if (base !== null && base !== knownBase) forgetYoung(join(dirname(indexFile), `sharedindex.${base}`), query);
    knownBase = base;
    known = identify(indexFile);
  };
  // What the user's own git knows is as old as that index.
  look(Math.min(Date.now(), statSync(indexFile, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY));
  return gitOf(async (args, options): Promise<GitResult> => {
    const own = { sinceMs: Date.now() };
    running.add(own);
    try {
      return await git.call(args, options);
    } finally {
      // One that goes on beside this one may be who wrote the index.
      const sinceMs = Math.min(...[...running].map((one) => one.sinceMs));
      running.delete(own);
      look(sinceMs);
    }
  });
};

/** Another one for each file that git puts in the place of its index. */
const identify = (file: string): string | null => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
};

/**
 * Returns the id of the index below. Writes into the file: git compares the sum at its end in `fsck` alone, and a whole index written
 * anew would take longer than all else.
 */
const forgetYoung = (file: string, query: { hashBytes: number; sinceS: number }): string | null => {
  let open: number;
  try {
    open = openSync(file, 'r+');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    const found = findYoungStats(readFileSync(open), query);
    if (found === null) utimesSync(file, OLDEST_S, OLDEST_S);
    for (const place of found?.places ?? []) writeSync(open, NEVER, 0, NEVER.length, place);
    return found?.base ?? null;
  } finally {
    closeSync(open);
  }
};

const NEVER = Buffer.alloc(4);
