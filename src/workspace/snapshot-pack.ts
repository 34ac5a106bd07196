import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { createGit, findGit, type Git } from './git.ts';
import { locateRepository } from './locate-repository.ts';
import { firstMissing, missingObject } from './missing-object.ts';
import { loadStartFacts, START_FILE } from './start-facts.ts';
import { createStore, storeAt } from './store.ts';
import { objectId, treeEntries } from './tree-reader.ts';
import { readUserSettings } from './user-settings.ts';
import type { TreeId } from './workspace.ts';

/** Files that hold all snapshots of a thread, but for what the commit that it began on holds. */
export interface SnapshotFiles {
  pack: string;
  start: string;
  attributes: string;
  remove(): Promise<void>;
}

export interface PackQuery {
  storeDir: string;
  workspace: string;
  /** The harness's PATH. */
  path: string;
  trees: readonly TreeId[];
}

/** Packs the trees given and the start's. Rejects with a `UsageError` where objects are missing. */
export const packSnapshots = async (query: PackQuery): Promise<SnapshotFiles> => {
  const { base } = await loadStartFacts(query.storeDir);
  const { gitDir } = storeAt(query.storeDir);
  const git = createGit(await findGit(query.path, query.workspace), gitDir, { GIT_DIR: gitDir });
  const folder = join(query.storeDir, `pack-${randomBytes(8).toString('hex')}`);
  const remove = () => rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  try {
    const wanted = [...new Set([base.tree, ...query.trees])].map(objectId);
    const known =
      base.commit === null ? null : await git.call(['rev-parse', '-q', '--verify', `${base.commit}^{tree}`]);
    const without = known?.code === 0 ? [`^${known.stdout.toString('latin1').trim()}`] : [];
    await git.run(['pack-objects', '-q', '--revs', '--delta-base-offset', join(folder, 'pack')], {
      stdin: `${[...wanted, ...without].join('\n')}\n`,
    });
    const pack = (await readdir(folder)).find((name) => name.endsWith('.pack'));
    if (pack === undefined) throw new UsageError('git wrote no pack of the snapshots', { code: 'git_failed' });
    return {
      pack: join(folder, pack),
      start: join(gitDir, START_FILE),
      attributes: join(gitDir, 'info/attributes'),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};

export interface UnpackQuery {
  /** Folder of the new thread. */
  storeDir: string;
  /** The folder that the thread is to work in. */
  workspace: string;
  path: string;
  files: Omit<SnapshotFiles, 'remove'>;
  /** Trees that have to be whole. */
  trees: readonly TreeId[];
}

const MOST_ATTRIBUTES_BYTES = 4 * 1024 * 1024;

/**
 * Makes the snapshots of a thread from files of unknown origin, for a folder on this machine. git checks every object (its name, its
 * form, paths that would lead out of a tree). Rejects with a `UsageError` where anything does not hold.
 */
export const unpackSnapshots = async (query: UnpackQuery): Promise<void> => {
  const { storeDir, files } = query;
  const location = await locateRepository({ dir: query.workspace, path: query.path });
  const settings = await readUserSettings(location);
  const store = await createStore({ storeDir, location, settings, resumed: false });
  if ((await stat(files.attributes)).size > MOST_ATTRIBUTES_BYTES)
    throw new UsageError('the attributes of the snapshots are too large', { code: 'thread_file' });
  await copyFile(files.attributes, join(store.gitDir, 'info/attributes'));
  await copyFile(files.start, join(store.gitDir, START_FILE));
  const { base } = await loadStartFacts(storeDir);
  const users = location.repository?.git ?? null;
  if (base.commit !== null && (await users?.call(['cat-file', '-e', `${objectId(base.commit)}^{commit}`]))?.code !== 0)
    throw new UsageError(
      `the thread began on commit ${base.commit}, which ${location.dir} does not have: check that commit out (or fetch it) first`,
      { code: 'missing_object' },
    );
  const git = createGit(location.program, store.gitDir, { GIT_DIR: store.gitDir });
  const pack = join(store.gitDir, 'objects/pack', `pack-${randomBytes(20).toString('hex')}.pack`);
  await rename(files.pack, pack);
  const indexed = await git.call(['index-pack', '--fsck-objects', pack]);
  if (indexed.code !== 0)
    throw new UsageError(`git refuses the snapshots: ${indexed.stderr.trim()}`, { code: 'thread_file' });
  for (const tree of new Set([base.tree, ...query.trees])) await refuseGaps(git, tree);
};

const refuseGaps = async (git: Git, tree: TreeId): Promise<void> => {
  if ((await git.call(['cat-file', '-e', `${objectId(tree)}^{tree}`])).code !== 0)
    throw new UsageError(`the snapshot ${tree} is not in the file`, { code: 'thread_file' });
  const lacking = await firstMissing(git, await treeEntries(git, tree));
  if (lacking !== null) throw missingObject(lacking);
};
