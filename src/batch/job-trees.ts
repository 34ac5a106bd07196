import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { acquireLock, type LockOutcome, lockWorkspace } from '../thread/index.ts';
import { removeTree } from '../verify/index.ts';
import { captureCarry, type TreeSource } from '../workspace/index.ts';

/** A folder of one run's own: `tree` is a repository on the job's base. */
export interface JobTree {
  readonly folder: string;
  readonly dir: string;
  remove(): Promise<void>;
}

/** Folders of a batch, in the state folder: nothing in the user's repository tells of them. */
export interface JobTrees {
  /** A fresh checkout of a commit. */
  layOut(name: string, commit: string): Promise<JobTree>;
  /**
   * A tree as setup left it elsewhere (by reflink where the file system can): a whole copy, or, on another commit than that of the
   * tree in `folder`, a checkout with the ignored files from there.
   */
  copy(name: string, from: { folder: string; base: string; wanted: string }): Promise<JobTree>;
  /** An empty folder. */
  open(name: string): Promise<JobTree>;
}

const TREE = 'tree';

/** Removes what killed batches left behind, then gives out folders. */
export async function openJobTrees(stateDir: string, source: TreeSource): Promise<JobTrees> {
  const parent = join(stateDir, 'batch', 'trees');
  // Locks lie beside the folders: one is taken before its folder is there, and given back when it is gone.
  const locks = join(stateDir, 'batch', 'locks');
  for (const folder of [parent, locks]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const lockOf = (name: string, owner: string) => acquireLock({ path: join(locks, `${name}.lock`), owner });
  await sweep({ parent, stateDir, lockOf });

  async function open(about: string): Promise<JobTree> {
    const name = `${about.slice(0, 40)}-${randomBytes(5).toString('hex')}`;
    const folder = join(parent, name);
    const lock = await lockOf(name, 'batch');
    if (lock.kind === 'held') throw new Error(`bug: the new folder ${folder} is in use`);
    await mkdir(folder, { mode: 0o700 });
    return {
      folder,
      dir: join(folder, TREE),
      async remove() {
        await removeTree(folder);
        await lock.release();
      },
    };
  }

  async function fill(name: string, lay: (tree: JobTree) => Promise<unknown>): Promise<JobTree> {
    const tree = await open(name);
    try {
      await lay(tree);
      return tree;
    } catch (error) {
      await tree.remove();
      throw error;
    }
  }

  return {
    open,
    layOut: (name, commit) => fill(name, (tree) => source.layOut(commit, tree.dir)),
    copy: (name, { folder, base, wanted }) =>
      fill(name, async (tree) => {
        if (base === wanted) return captureCarry({ from: folder, to: tree.folder, paths: [TREE] });
        const from = join(folder, TREE);
        await source.layOut(wanted, tree.dir);
        return captureCarry({ from, to: tree.dir, paths: await source.ignored(from) });
      }),
  };
}

interface Sweeping {
  parent: string;
  stateDir: string;
  lockOf(name: string, owner: string): Promise<LockOutcome>;
}

/** A folder that nobody holds is a killed batch's; one whose run is still ending is left to the next batch. */
async function sweep({ parent, stateDir, lockOf }: Sweeping): Promise<void> {
  for (const name of await readdir(parent)) {
    const lock = await lockOf(name, 'sweep');
    if (lock.kind === 'held') continue;
    const dir = join(parent, name, TREE);
    const run = (await isThere(dir)) ? await lockWorkspace({ stateDir, workspace: dir, owner: 'sweep' }) : null;
    if (run?.kind !== 'held') await removeTree(join(parent, name));
    if (run?.kind === 'acquired') await run.release();
    await lock.release();
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
