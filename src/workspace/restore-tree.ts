import { randomUUID } from 'node:crypto';
import { access, chmod, constants as fs, lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { statOrNull } from '../sandbox/index.ts';
import { ensureFolder, ownerToGive, placeFile, removeEntry, statOf } from './place-file.ts';
import type { RepositoryWatch } from './repository-watch.ts';
import { scanWorkTree } from './scan.ts';
import { stageEntries } from './scratch-index.ts';
import type { StartFacts } from './start-facts.ts';
import { statBelow } from './stat-below.ts';
import type { Store } from './store.ts';
import { type Snapshot, type SnapshotSite, takeSnapshot } from './take-snapshot.ts';
import { ancestors, deepestFirst } from './text-path.ts';
import { entryChanges, type TreeEntryChange } from './tree-diff.ts';
import { unreadableFolders } from './unreadable-folders.ts';
import { emptyFolders, removeIfEmpty } from './user-folders.ts';
import type { TreeId } from './workspace.ts';

export interface RestoreSite extends SnapshotSite {
  store: Store;
  start: StartFacts;
  /** Folders with a repository that stays. */
  known: ReadonlySet<string>;
  takeAway: RepositoryWatch['takeAway'];
  /** Folders with a repository that a user made since the start: nothing is written into them. */
  users: ReadonlySet<string>;
}

/** Putting an ignore file back can bring files into view that it hid; a second round then takes them away. */
const ROUNDS = 4;

export interface Restored {
  files: number;
  snapshot: Snapshot;
}

/** See `Workspace.restore`. Everything is staged before the first file is touched, so that a missing object changes nothing. */
export const restoreTree = async (site: RestoreSite, tree: TreeId): Promise<Restored> => {
  const changed = new Set<string>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const snapshot = await snapshotDespiteModes(site);
    const planted = snapshot.nested.filter((path) => !site.known.has(path));
    const changes = await entryChanges(site.git, { from: snapshot.tree, to: tree });
    if (changes.length === 0 && planted.length === 0) {
      await settleFolders(site, snapshot.nested);
      return { files: changed.size, snapshot };
    }
    refuseInto(site, snapshot.nested, changes);
    for (const path of planted) await site.takeAway({ folder: path, path });
    await putBack(site, changes);
    for (const path of [...planted, ...changes.map((change) => change.path)]) changed.add(path);
  }
  throw new UsageError(
    `the workspace ${site.root} keeps changing while it is restored; does a process of the run still write there?`,
    {
      code: 'restore_incomplete',
    },
  );
};

/** Nobody's repository is written into, or replaced by a file, because the tree has something at its place. */
export const refuseInto = (
  { root, users }: Pick<RestoreSite, 'root' | 'users'>,
  nested: readonly string[],
  changes: readonly TreeEntryChange[],
): void => {
  const wanted = changes.flatMap(({ path, to }) => (to === null ? [] : [path]));
  const folder = nested.find((one) => users.has(one) && wanted.some((path) => `${path}/`.startsWith(`${one}/`)));
  if (folder === undefined) return;
  throw new UsageError(
    `${join(root, folder)} is a repository now, where the thread has files of its own: move it elsewhere first`,
    { code: 'workspace_changed' },
  );
};

const putBack = async (site: RestoreSite, changes: readonly TreeEntryChange[]): Promise<void> => {
  const stage = join(site.store.scratch, `stage-${randomUUID()}`);
  await mkdir(stage, { recursive: true });
  try {
    const again = (await site.leftOut?.again(changes)) ?? [];
    const stays = new Set(again.map(({ path }) => path));
    const wanted = changes.filter((change) => change.to !== null && !stays.has(change.path));
    const entries = wanted.flatMap(({ path, to }) => (to === null ? [] : [{ ...to, path }]));
    await stageEntries(site.git, site.store, { entries, dir: stage });
    const owner = await ownerToGive(site.root);
    const removed = changes.filter((change) => change.to === null || stays.has(change.path));
    // Never through a link, which may lead out: one that git ignores is in no tree, and no change.
    for (const { path } of removed)
      if (statBelow(site.root, path, new Map()) !== null) await removeEntry(join(site.root, path));
    for (const path of stays) await clearWay(site.root, path);
    site.leftOut?.displace([...stays]);
    if (((await site.leftOut?.settle()) ?? 0) > 0) site.held.tree = null;
    for (const { path, to } of wanted) {
      const executable = to?.mode === '100755';
      const mode = site.start.modes[path] ?? null;
      await placeFile({ staged: join(stage, path), root: site.root, path, executable, mode, owner });
    }
    await pruneAbove(
      site,
      removed.map((change) => change.path),
    );
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
};

/** What is no folder, and stands in the place of one above a path that is left out, came since the start. */
const clearWay = async (root: string, path: string): Promise<void> => {
  for (const above of ancestors(path)) {
    const stats = statOrNull(join(root, above));
    if (stats?.isDirectory() === true) continue;
    if (stats !== null) await removeEntry(join(root, above));
    return;
  }
};

/** Removes folders that the removals emptied, but for those that were empty before. */
const pruneAbove = async ({ root, start }: RestoreSite, removed: readonly string[]): Promise<void> => {
  const keep = new Set(start.emptyFolders);
  const above = new Set(removed.flatMap(ancestors));
  for (const folder of [...above].sort(deepestFirst)) if (!keep.has(folder)) await removeIfEmpty(root, folder);
};

/** Empty folders: those of the start are there again, others are gone. */
const settleFolders = async ({ git, root, start }: RestoreSite, nested: readonly string[]): Promise<void> => {
  const keep = new Set(start.emptyFolders);
  const owner = await ownerToGive(root);
  for (const folder of start.emptyFolders)
    if (!(await isTaken(root, folder))) await ensureFolder({ root, path: folder, owner });
  const now = await emptyFolders(git, root, { nested, touched: start.absent });
  for (const folder of [...now].sort(deepestFirst)) if (!keep.has(folder)) await removeIfEmpty(root, folder);
};

/** Whether the tree (not the one of the start, then) has a file or link where the folder was. */
const isTaken = async (root: string, folder: string): Promise<boolean> => {
  for (const path of [...ancestors(folder), folder]) {
    const stats = await statOf(join(root, path));
    if (stats?.isFile() === true || stats?.isSymbolicLink() === true) return true;
  }
  return false;
};

/** What the agent made unreadable is made readable again, where we may. */
const snapshotDespiteModes = async (site: RestoreSite): Promise<Snapshot> => {
  try {
    return await takeSnapshot(site);
  } catch (error) {
    if (!(error instanceof UsageError && error.code === 'unreadable')) throw error;
    for (
      let folders = await unreadableFolders(site.root);
      folders.length > 0;
      folders = await unreadableFolders(site.root)
    ) {
      const repaired = await Promise.all(folders.map((folder) => allow(join(site.root, folder), 0o700)));
      if (!repaired.includes(true)) break;
    }
    const { touched, untracked } = await scanWorkTree(site.git);
    for (const path of [...touched, ...untracked]) await allow(join(site.root, path), 0o600);
    return takeSnapshot(site);
  }
};

/** Whether permission bits had to be and could be added. Links are left alone. */
const allow = async (path: string, bits: number): Promise<boolean> => {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink() || (stats.mode & bits) === bits) return false;
    await chmod(path, stats.mode | bits);
    await access(path, fs.R_OK);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EPERM', 'EACCES')) return false;
    throw error;
  }
};
