import { constants as fs, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { editTree } from './edit-tree.ts';
import { type Git, gitFailure, splitNul } from './git.ts';
import type { LeftOut } from './left-out.ts';
import { type Scan, scanWorkTree } from './scan.ts';
import { statBelow } from './stat-below.ts';
import { ancestors } from './text-path.ts';
import { unreadableFolders } from './unreadable-folders.ts';

export interface SnapshotSite {
  git: Git;
  root: string;
  /** As many zeros as an object id has digits. */
  zeroOid: string;
  /** Untracked paths that were ignored when the run began stay out, whatever becomes of the ignore rules. */
  pinned: ReadonlySet<string>;
  /** Folders with a repository of their own that were there before the agent came; absent while these are looked for. */
  known?: Pick<ReadonlySet<string>, 'has'>;
  /** null where a sparse checkout left out nothing, and until the first snapshot is taken. */
  leftOut: LeftOut | null;
  /** The tree that our index holds; null when not known, or when the index may be half-way. */
  held: { tree: string | null };
  /** Whether a tree with other contents of a few files is made without the index, which is behind then. */
  editsTrees: boolean;
}

export interface Snapshot {
  tree: string;
  nested: readonly string[];
  /** Where asked for; see `Scan`. */
  ignored: readonly string[];
}

const ATTEMPTS = 3;

export interface SnapshotOptions {
  /** A scan made just now. */
  scanned?: Scan;
  /** The only paths that may differ from this tree; at least one path. */
  only?: { paths: readonly string[]; from: string };
  /** Tells of ignored paths too. */
  ignored?: boolean;
}

/** A file that changes while it is read is looked at again. */
export const takeSnapshot = async (site: SnapshotSite, options: SnapshotOptions = {}): Promise<Snapshot> => {
  const { held } = site;
  const { only, ignored = false } = options;
  // What stood in the place of something that was left out may be gone without a trace in the index.
  if (((await site.leftOut?.settle()) ?? 0) > 0) held.tree = null;
  const edited = only === undefined ? null : await edit(site, only);
  if (edited !== null) return { tree: edited, nested: [], ignored: [] };
  // Behind an index that is behind, a scan of some paths does not tell all that differs from it.
  const narrow = only !== undefined && only.from === held.tree ? { only: only.paths } : { ignored };
  const explain = (failure: UsageError) => explainFailure(site, failure);
  for (let attempt = 1; ; attempt += 1) {
    const scan =
      attempt === 1 && options.scanned !== undefined
        ? options.scanned
        : await scanWorkTree(site.git, { ...narrow, explain });
    if (scan.complaints !== '') await refuseUnreadable(site);
    const fresh = scan.untracked.filter((path) => !isPinned(site.pinned, path));
    const seen = { nested: scan.nested, ignored: scan.ignored };
    const differs = scan.touched.length + fresh.length > 0;
    if (held.tree !== null) {
      if (!differs) return { tree: held.tree, ...seen };
      const tree = fresh.length > 0 ? null : await edit(site, { paths: scan.touched, from: held.tree });
      if (tree !== null) return { tree, ...seen };
    }
    held.tree = null;
    const failure = await updateIndex(site, scan.touched, fresh);
    if (failure === null) {
      held.tree = (await site.git.run(['write-tree', '--missing-ok'])).toString('latin1').trim();
      return { tree: held.tree, ...seen };
    }
    if (attempt === ATTEMPTS) throw await diagnose(site.root, [...scan.touched, ...fresh], failure);
  }
};

const edit = async (
  { git, root, editsTrees, leftOut }: SnapshotSite,
  change: { paths: readonly string[]; from: string },
): Promise<string | null> =>
  editsTrees && !change.paths.some((path) => leftOut?.concerns(path) === true)
    ? editTree(git, { root, ...change })
    : null;

/** A repository in a folder of the tree that git cannot read keeps it from looking at all. */
const explainFailure = async (site: SnapshotSite, failure: UsageError): Promise<UsageError> => {
  const [path] = await repositoriesAdded(site);
  if (path === undefined) return failure;
  const shown = path.subarray(site.root.length + 1).toString('utf8');
  return new UsageError(`${JSON.stringify(shown)} was added, and ${failure.message}`, { code: 'repository' });
};

/** Those in folders of their own; what lay in ignored folders before is not looked into. */
export const repositoriesAdded = async ({ root, pinned, known }: SnapshotSite): Promise<Buffer[]> => {
  const { strangeRepositories } = await import('./strange-repositories.ts');
  return strangeRepositories(root, (folder) => isPinned(pinned, folder) || known?.has(folder) === true);
};

/** Whether a path or a folder above it is in the set. */
export const isPinned = (pinned: ReadonlySet<string>, path: string): boolean =>
  pinned.size > 0 && (pinned.has(path) || ancestors(path).some((folder) => pinned.has(folder)));

/** From here on the contents go into one pack: 50,000 loose files cost twice the time and an inode each. */
const MANY_FILES = 500;

/**
 * Returns git's complaint, or null. A tracked path that is no file or link now (a FIFO, socket, device or folder) counts as gone; git
 * itself lists nothing of that kind as untracked. What a sparse checkout had left out and is gone again is as it was.
 */
const updateIndex = async (
  { git, root, zeroOid, leftOut }: SnapshotSite,
  touched: readonly string[],
  fresh: readonly string[],
): Promise<UsageError | null> => {
  const kept: string[] = [];
  const gone: string[] = [];
  const folders = new Map<string, boolean>();
  for (const path of touched) (isRecordable(statBelow(root, path, folders)) ? kept : gone).push(path);
  if (gone.length > 0) {
    const lines = gone.map((path) => `0 ${zeroOid}\t${path}\0`).join('');
    await git.run(['update-index', '-z', '--index-info'], { stdin: lines });
  }
  kept.push(...fresh);
  leftOut?.displace([...gone, ...kept]);
  await leftOut?.settle();
  if (kept.length === 0) return null;
  const pack = kept.length < MANY_FILES ? [] : ['-c', 'core.bigFileThreshold=0'];
  const args = [...pack, 'update-index', '--add', '--replace', '-z', '--stdin'];
  const result = await git.call(args, { stdin: kept.map((path) => `${path}\0`).join('') });
  if (result.code !== 0) return gitFailure(['update-index'], result);
  // A name that git refuses (`.GIT`, `git~1`, a link `.gitmodules`) is passed over with a complaint alone.
  return result.stderr.trim() === '' ? null : refusal(await stillUnrecorded(git, kept));
};

/** Those of the paths that the index does not hold as they are on disk, though they were put there. */
export const stillUnrecorded = async (git: Git, paths: readonly string[]): Promise<readonly string[]> => {
  const { touched, untracked } = await scanWorkTree(git);
  const open = new Set([...touched, ...untracked]);
  return paths.filter((path) => open.has(path));
};

const refusal = ([path]: readonly string[]): UsageError | null =>
  path === undefined
    ? null
    : new UsageError(
        `git refuses the file name ${JSON.stringify(path)}: rename it, or keep it in a folder that .gitignore names`,
        { code: 'file_name' },
      );

/** A path behind a link is not in the tree: git lists it as gone, and the link as new. */
export const isRecordable = (stats: Stats | null): boolean =>
  stats !== null && (stats.isFile() || stats.isSymbolicLink());

/**
 * git goes on past a folder that it may not read, as if it were empty: a snapshot without it would be a lie. Its other warnings (an
 * ignore file that is a link, say) leave nothing out.
 */
const refuseUnreadable = async ({ git, root, pinned }: SnapshotSite): Promise<void> => {
  const folders = (await unreadableFolders(root)).filter((folder) => !isPinned(pinned, folder));
  if (folders.length === 0) return;
  const ignored = await git.call(['check-ignore', '-z', '--stdin'], {
    stdin: folders.map((folder) => `${folder}\0`).join(''),
  });
  const names = new Set(splitNul(ignored.stdout).map(String));
  const folder = folders.find((name) => !names.has(name));
  if (folder !== undefined) throw unreadable(folder || '.');
};

const diagnose = async (root: string, paths: readonly string[], failure: UsageError): Promise<UsageError> => {
  for (const path of paths) {
    try {
      // Neither follows a link nor waits on a FIFO.
      await (await open(join(root, path), fs.O_RDONLY | fs.O_NOFOLLOW | fs.O_NONBLOCK)).close();
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM')) return unreadable(path);
      if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO')) throw error;
    }
  }
  return failure;
};

const unreadable = (path: string): UsageError =>
  new UsageError(`${path} cannot be read by the user that belay runs as; fix its permissions or have it ignored`, {
    code: 'unreadable',
  });
