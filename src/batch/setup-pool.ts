import { join } from 'node:path';
import type { JobTree, JobTrees } from './job-trees.ts';
import type { PlannedJob } from './planned-job.ts';

/** How a run gets its tree, and what it does about setup. */
export interface SetUpTree {
  tree: JobTree;
  /** Where it keeps what setup left, for the runs that wait for it. */
  keepSetup: string | null;
  setupTaken: { home: string; from: string } | null;
  /** The run has kept it. */
  kept(): void;
  /** The run has ended, whether it kept something or not. */
  ended(): void;
}

export interface SetupPool {
  open(job: PlannedJob, name: string): Promise<SetUpTree>;
  close(): Promise<void>;
}

interface Kept {
  folder: string;
  from: string;
  base: string;
}

export interface SetupPoolOptions {
  trees: JobTrees;
  /** Of a job: runs with the same key share setup. null: nothing to share. */
  keyOf(job: PlannedJob): Promise<string | null>;
}

/**
 * Setup once for all runs with the same key: the first one does it and keeps what it left, the others wait and start from a copy.
 * Where the first one's setup fails, the next does it itself: a failure is its own job's alone.
 */
export function createSetupPool({ trees, keyOf }: SetupPoolOptions): SetupPool {
  const ready = new Map<string, Promise<Kept | null>>();
  const folders: JobTree[] = [];

  async function lead(job: PlannedJob, { name, key }: { name: string; key: string }): Promise<SetUpTree> {
    let settle: (kept: Kept | null) => void = () => undefined;
    ready.set(
      key,
      new Promise((resolve) => {
        settle = resolve;
      }),
    );
    try {
      const store = await trees.open('setup');
      folders.push(store);
      return {
        tree: await trees.layOut(name, job.base),
        keepSetup: store.folder,
        setupTaken: null,
        kept: () => settle({ folder: store.folder, from: job.id, base: job.base }),
        ended() {
          settle(null);
        },
      };
    } catch (error) {
      settle(null);
      throw error;
    }
  }

  return {
    async open(job, name) {
      const nothing = { keepSetup: null, setupTaken: null, kept: () => undefined, ended: () => undefined };
      const key = await keyOf(job);
      if (key === null) return { ...nothing, tree: await trees.layOut(name, job.base) };
      for (;;) {
        const found = ready.get(key);
        if (found === undefined) return lead(job, { name, key });
        const kept = await found;
        if (kept !== null) {
          const setupTaken = { home: join(kept.folder, 'home'), from: kept.from };
          const tree = await trees.copy(name, { folder: kept.folder, base: kept.base, wanted: job.base });
          return { ...nothing, tree, setupTaken };
        }
        // Of all that waited, the first one leads; the others find its promise.
        if (ready.get(key) === found) ready.delete(key);
      }
    },
    async close() {
      for (const folder of folders) await folder.remove();
    },
  };
}
