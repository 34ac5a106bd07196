import { lstat, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { lockPath } from './create-thread.ts';
import { acquireLock } from './lock.ts';
import { orNull } from './or-null.ts';
import { isThreadId, threadsFolder } from './state-folder.ts';
import { readMeta } from './thread-meta.ts';

export interface PruneRules {
  /** Threads created before this moment go; null: age is no reason. */
  createdBeforeMs: number | null;
  /** Bytes on disk that all threads together may keep: the oldest go first; null: size is no reason. */
  maxBytes: number | null;
  /** Says what would go, and removes nothing. */
  dryRun: boolean;
}

export interface Pruned {
  id: string;
  bytes: number;
}

interface Candidate {
  id: string;
  dir: string;
  createdMs: number;
  bytes: number;
}

/** Removes threads by age and size, but none that a run is writing. Folders that never became a thread (a killed fork or import) count as threads. */
export async function pruneThreads(stateDir: string, rules: PruneRules): Promise<Pruned[]> {
  const folder = threadsFolder(stateDir);
  if (!rules.dryRun) await removeRests(folder);
  const candidates = await findCandidates(folder);
  const removed: Pruned[] = [];
  let total = candidates.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { id, dir, createdMs, bytes } of candidates) {
    const isOld = rules.createdBeforeMs !== null && createdMs < rules.createdBeforeMs;
    const isTooMuch = rules.maxBytes !== null && total > rules.maxBytes;
    if (!isOld && !isTooMuch) continue;
    if (!(await removeUnlessBusy(dir, rules.dryRun))) continue;
    total -= bytes;
    removed.push({ id, bytes });
  }
  return removed;
}

async function removeUnlessBusy(dir: string, dryRun: boolean): Promise<boolean> {
  const lock = await acquireLock({ path: lockPath(dir), owner: 'prune' });
  if (lock.kind === 'held') return false;
  try {
    if (!dryRun) {
      // In one step: a thread is whole, or it is none.
      await rename(dir, dir + REST);
      await removeFolder(dir + REST);
    }
    return true;
  } finally {
    await lock.release();
  }
}

/** Ends the name of a thread that is being removed; no thread has such a name. */
const REST = '.pruned';

const removeFolder = (dir: string): Promise<void> => rm(dir, { recursive: true, force: true, maxRetries: 3 });

/** What a killed prune left of threads. */
async function removeRests(folder: string): Promise<void> {
  for (const name of (await orNull(readdir(folder))) ?? [])
    if (name.endsWith(REST) && isThreadId(name.slice(0, -REST.length))) await removeFolder(join(folder, name));
}

/** A folder without its facts may be a thread that is just being made. */
const BEING_MADE_MS = 3_600_000;

/** Oldest first. What cannot be read has the age of its folder. */
async function findCandidates(folder: string): Promise<Candidate[]> {
  const names = ((await orNull(readdir(folder))) ?? []).filter(isThreadId);
  const found = await Promise.all(
    names.map(async (id): Promise<Candidate[]> => {
      const dir = join(folder, id);
      const meta = await readMeta(dir);
      const created = meta === 'missing' || 'unreadable' in meta ? Number.NaN : Date.parse(meta.created);
      const changed = (await orNull(stat(dir)))?.mtimeMs ?? 0;
      if (meta === 'missing' && Date.now() - changed < BEING_MADE_MS) return [];
      return [{ id, dir, createdMs: Number.isNaN(created) ? changed : created, bytes: await sizeOf(dir) }];
    }),
  );
  return found.flat().sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
}

const BLOCK_BYTES = 512;

/** What the files of a folder take up on disk; a file with several names counts for its part. */
async function sizeOf(dir: string): Promise<number> {
  let bytes = 0;
  const waiting = [dir];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of (await orNull(readdir(at, { withFileTypes: true }))) ?? []) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else {
        const facts = await orNull(lstat(path));
        if (facts !== null) bytes += Math.round((facts.blocks * BLOCK_BYTES) / Math.max(1, facts.nlink));
      }
    }
  }
  return bytes;
}
