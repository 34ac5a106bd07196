import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { createGit, findGit, type Git, gitOf } from './git.ts';
import { type Location, locateRepository } from './locate-repository.ts';
import { missingObject, objectSizes } from './missing-object.ts';
import { openWorkspace } from './open-workspace.ts';
import { loadStartFacts, parseStartFacts, START_FILE, writeStartFacts } from './start-facts.ts';
import { storeAt } from './store.ts';
import { objectId, treeEntries } from './tree-reader.ts';
import type { BaseState, TreeId } from './workspace.ts';

/** Files that hold all snapshots of a thread, but for what the commit that it began on holds. */
export interface SnapshotFiles {
  pack: string;
  start: string;
  attributes: string;
  remove(): Promise<void>;
}

export interface NamedTrees {
  /** Of the timeline: they have to be there. */
  needed: readonly TreeId[];
  /** Of work that was put away: an import by an earlier version may have left them out. */
  stashes: readonly TreeId[];
}

export interface PackQuery {
  storeDir: string;
  workspace: string;
  /** The harness's PATH. */
  path: string;
  trees: NamedTrees;
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
    const { needed, stashes } = query.trees;
    const wanted = new Set([base.tree, ...needed].map(objectId));
    for (const tree of stashes) if (await hasTree(git, tree)) wanted.add(tree);
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
  files: Pick<SnapshotFiles, 'pack' | 'start'>;
  trees: NamedTrees;
  /** Of the files of one tree: a few bytes of a pack can stand for a disk full of them. */
  maxBytes: number;
}

/** What git lists of one tree: some million paths. */
const MOST_LISTED_BYTES = 256 * 1024 * 1024;

/**
 * Makes the snapshots of a thread from files of unknown origin, for a folder on this machine. git checks every object (its name, its
 * form, paths that would lead out of a tree). What git does not record, and what it is to convert, is that of this folder: the file's
 * word could hide changes. Rejects with a `UsageError` where anything does not hold.
 */
export const unpackSnapshots = async (query: UnpackQuery): Promise<void> => {
  const { storeDir, files } = query;
  const { base, modes } = await parseStartFacts(files.start, 'the file');
  const location = await locateRepository({ dir: query.workspace, path: query.path });
  await refuseOtherStart(base, location);
  const here = await openWorkspace({ dir: query.workspace, storeDir, location });
  await here.close();
  const { gitDir } = storeAt(storeDir);
  const git = createGit(location.program, gitDir, { GIT_DIR: gitDir });
  const pack = join(gitDir, 'objects/pack', `pack-${randomBytes(20).toString('hex')}.pack`);
  await rename(files.pack, pack);
  const indexed = await git.call(['index-pack', '--fsck-objects', pack]);
  if (indexed.code !== 0)
    throw new UsageError(`git refuses the snapshots: ${indexed.stderr.trim()}`, { code: 'thread_file' });
  const { needed, stashes } = query.trees;
  for (const tree of new Set([base.tree, ...needed, ...stashes])) {
    if (await hasTree(git, tree)) await refuseGaps(git, { tree, maxBytes: query.maxBytes });
    else if (tree === base.tree || needed.includes(tree))
      throw new UsageError(`the snapshot ${tree} is not in the file`, { code: 'thread_file' });
  }
  await writeStartFacts(storeDir, { ...(await loadStartFacts(storeDir)), base, modes });
};

/** What a run ends without success with is put back to the thread's start: it has to be what the commit says, or say what else it was. */
const refuseOtherStart = async (base: BaseState, { dir, repository }: Location): Promise<void> => {
  const refuse = (why: string, code = 'thread_file'): never => {
    throw new UsageError(why, { code });
  };
  const isAsHere =
    base.git === (repository !== null) && (base.commit === null) === ((repository?.head ?? null) === null);
  if (!isAsHere)
    return refuse(
      `the thread cannot be imported here: its start was ${base.git ? 'a git repository' : 'no git repository'}${base.commit === null ? ' without a commit' : ''}, and ${dir} is not`,
    );
  if (base.commit === null || repository === null) return;
  const found = await repository.git.call(['rev-parse', '-q', '--verify', `${objectId(base.commit)}^{commit}^{tree}`]);
  if (found.code !== 0)
    refuse(
      `the thread began on commit ${base.commit}, which ${dir} does not have: check that commit out (or fetch it) first`,
      'missing_object',
    );
  if (base.dirty === (found.stdout.toString('latin1').trim() === objectId(base.tree)))
    refuse(
      `the thread cannot be imported: its start is not ${base.dirty ? 'more than' : ''} the commit ${base.commit}, as it says`,
    );
};

const hasTree = async (git: Git, tree: TreeId): Promise<boolean> =>
  (await git.call(['cat-file', '-e', `${objectId(tree)}^{tree}`])).code === 0;

const refuseGaps = async (git: Git, { tree, maxBytes }: { tree: TreeId; maxBytes: number }): Promise<void> => {
  const listing = gitOf((args, options) => git.call(args, { maxBytes: MOST_LISTED_BYTES, ...options }));
  const entries = await treeEntries(listing, tree);
  const sizes = await objectSizes(listing, [...new Set(entries.map(({ oid }) => oid))]);
  let bytes = 0;
  for (const { oid, path } of entries) {
    const size = sizes.get(oid) ?? null;
    if (size === null) throw missingObject(path);
    bytes += size;
  }
  if (bytes > maxBytes)
    throw new UsageError(`the files of the snapshot ${tree} have more than ${maxBytes} bytes; --max-size takes more`, {
      code: 'thread_file',
    });
};
