import { rm } from 'node:fs/promises';
import { lockPath } from './create-thread.ts';
import { listThreads } from './list-threads.ts';
import { acquireLock } from './lock.ts';

/** Removes threads created before a moment, but none that a run is writing. Returns the ids of what is gone. */
export async function pruneThreads(stateDir: string, createdBeforeMs: number): Promise<string[]> {
  const removed: string[] = [];
  for (const thread of await listThreads(stateDir)) {
    if (!(Date.parse(thread.created) < createdBeforeMs)) continue;
    const lock = await acquireLock({ path: lockPath(thread.dir), owner: 'prune' });
    if (lock.kind === 'held') continue;
    await rm(thread.dir, { recursive: true, force: true, maxRetries: 3 });
    await lock.release();
    removed.push(thread.id);
  }
  return removed;
}
