import { randomUUID } from 'node:crypto';
import { lchown, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { distrustYoung } from './distrust-young.ts';
import { createGit, endedBy, type Git, gitOf } from './git.ts';
import { ownerToGive, removeEntry, statOf } from './place-file.ts';
import { scanWorkTree } from './scan.ts';
import { checkOut, readTree, WHOLE_INDEX } from './scratch-index.ts';
import type { Store } from './store.ts';
import { ancestors } from './text-path.ts';
import type { LaidTree, TreeId } from './workspace.ts';

export interface LaidTreeSite {
  git: Git;
  store: Store;
  /** Absolute path of git. */
  program: string;
  hashBytes: number;
  /** See `OpenWorkspaceOptions.stop`. */
  stop: AbortSignal | undefined;
}

export interface Layout {
  tree: TreeId;
  /** Absolute and empty. */
  dir: string;
  /** Paths to leave out. */
  absent: readonly string[];
}

/** See `Workspace.checkout`. The index that knows the files lies in our store, which nothing that runs in the folder can reach. */
export const layTree = async (site: LaidTreeSite, layout: Layout): Promise<LaidTree> => {
  const { git, store, program, hashBytes, stop } = site;
  const { dir } = layout;
  const indexFile = join(store.scratch, `laid-${randomUUID()}`);
  const close = () => rm(indexFile, { force: true });
  try {
    await readTree(git, { ...layout, indexFile });
    await checkOut(git, { indexFile, workTree: dir, remembers: true });
  } catch (error) {
    await close();
    throw error;
  }
  const openGit = (): Git => {
    const env = { GIT_DIR: store.gitDir, GIT_WORK_TREE: dir, GIT_INDEX_FILE: indexFile };
    const plain = endedBy(stop, createGit(program, dir, env));
    const whole = gitOf((args, options) => plain.call([...WHOLE_INDEX, ...args], options));
    return distrustYoung(whole, { indexFile, hashBytes });
  };
  // Reads the index, and most are never asked. What it says is from before anything could run in the folder, and its own age tells from when.
  let asked: Git | null = null;
  const ask = (): Git => {
    asked ??= openGit();
    return asked;
  };
  const changed = async () => (await scanWorkTree(ask(), { trackedOnly: true })).touched;
  return {
    changed,
    putBack: async (paths) => {
      let open = paths;
      let complaint: string | null = null;
      for (let round = 1; open.length > 0 && round <= ROUNDS; round += 1) {
        complaint = await layAgain(ask(), dir, open);
        // One that was put back may be what says how others are read (`.gitattributes`).
        open = await changed();
      }
      return open.length === 0 ? null : (complaint ?? `${open[0]} keeps changing`);
    },
    close,
  };
};

const ROUNDS = 3;

/** Returns why that did not work, or null. */
const layAgain = async (git: Git, dir: string, paths: readonly string[]): Promise<string | null> => {
  try {
    for (const path of paths)
      if ((await statOf(join(dir, path)))?.isDirectory() === true) await removeEntry(join(dir, path));
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    return error instanceof Error ? error.message : null;
  }
  const stdin = paths.map((path) => `${path}\0`).join('');
  // Follows no link: one on the way is removed.
  const laid = await git.call(['checkout-index', '-q', '-f', '-u', '-z', '--stdin'], { stdin });
  const owner = await ownerToGive(dir);
  const all = owner === null ? [] : new Set(paths.flatMap((path) => [...ancestors(path), path]));
  for (const path of all)
    if (owner !== null && (await statOf(join(dir, path))) !== null) await lchown(join(dir, path), owner.uid, owner.gid);
  return laid.code === 0 ? null : laid.stderr.trim();
};
