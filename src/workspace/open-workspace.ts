import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { isWithin } from '../sandbox/index.ts';
import { keepConversions } from './converted-files.ts';
import { distrustYoung } from './distrust-young.ts';
import { findLeftOut } from './find-left-out.ts';
import { createGit, endedBy, type Git } from './git.ts';
import { type IndexFacts, prepareIndex } from './index-entries.ts';
import { layTree } from './laid-tree.ts';
import { gitFolders, type Location, locateRepository } from './locate-repository.ts';
import { narrowedTo } from './narrowed-scan.ts';
import { makeRecordable, refuseInto, restoreTree } from './put-back.ts';
import { readFollowed } from './read-at-commit.ts';
import { readStart } from './read-start.ts';
import { removeNewIgnored, removeStray } from './remove-unrecorded.ts';
import { watchRepositories } from './repository-watch.ts';
import { scanWorkTree } from './scan.ts';
import { provePatch, transplant } from './scratch-index.ts';
import { loadStartFacts, writeStartFacts } from './start-facts.ts';
import { createStillTree, type StillTree } from './still-tree.ts';
import { createStore, type Store, storesExactly, tuneStore } from './store.ts';
import type { Found, TakenFound } from './take-found.ts';
import { type SnapshotSite, takeSnapshot } from './take-snapshot.ts';
import { ancestors } from './text-path.ts';
import { diffTrees, entryChanges, MAX_PATCH_BYTES } from './tree-diff.ts';
import { readBlob, resolveCommit, treeEntries } from './tree-reader.ts';
import { findUnrecorded, gitIn } from './unrecorded.ts';
import { emptyFolders } from './user-folders.ts';
import { readUserSettings } from './user-settings.ts';
import type { TreeId, Workspace } from './workspace.ts';

export interface OpenWorkspaceOptions {
  /** The writable folder; its repository's root becomes `root`. */
  dir: string;
  /** Ours, outside the workspace; made when it is missing. One process at a time (the thread's lock sees to that). */
  storeDir: string;
  /** Takes base and start facts from an earlier open of the same store, whatever the folder looks like now. */
  resumed?: boolean;
  /** See `Found`. Default: what was not there at the start is the agent's, and goes. */
  found?: Found;
  /** Of a patch, and of the binary contents that go into one; more is a `UsageError` with code `too_large`. Default: `MAX_PATCH_BYTES`. */
  maxPatchBytes?: number;
  /** Default: the process's PATH. */
  path?: string;
  /** What `locateRepository` found for `dir`, where the caller has asked already: each asking starts git. */
  location?: Location;
  /** Workspaces with so many files are handled as big ones. */
  manyEntries?: number;
  /** Absolute paths that are no part of the tree whatever they hold: files that the run itself writes. */
  leaveOut?: readonly string[];
  /** Aborts when the run is to end: a git that hangs is ended, and the call rejects; what comes later has time to put the workspace back. */
  stop?: AbortSignal;
}

/** From here on it pays to remember what each folder held, and to leave the index as it is; below, all of it is written anew. */
const MANY_ENTRIES = 10_000;
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Opens the folder under work and takes the start snapshot. Rejects with a `UsageError` for a folder that belay cannot work in. */
export const openWorkspace = async (options: OpenWorkspaceOptions): Promise<Workspace> => {
  const openedAtMs = Date.now();
  const location =
    options.location ?? (await locateRepository({ dir: options.dir, path: options.path ?? process.env['PATH'] ?? '' }));
  const root = location.repository?.root ?? location.dir;
  const storeDir = await outside(root, options.storeDir);
  const settings = await readUserSettings(location);
  const resumed = options.resumed === true;
  const store = await createStore({ storeDir, location, settings, resumed });
  const hashBytes = location.repository?.objectFormat === 'sha256' ? 32 : 20;
  const env = { GIT_DIR: store.gitDir, GIT_WORK_TREE: root, GIT_INDEX_FILE: store.indexFile };
  const plain = endedBy(options.stop, createGit(location.program, root, env));
  const git = distrustYoung(plain, { indexFile: store.indexFile, hashBytes });
  const index = await prepareIndex(git, { root, store, head: location.repository?.head?.tree ?? null });
  const { manyEntries = MANY_ENTRIES } = options;
  if (index.entries >= manyEntries) await tuneStore(store);
  if (!resumed && settings.lineEnds === null) {
    const { attributeFiles } = index;
    await keepConversions({ git, store, root, attributeFiles, ownAttributes: settings.attributes });
  }
  const earlier = resumed ? await loadStartFacts(storeDir) : null;
  const beganAtMs = Date.now();
  const scan = await scanWorkTree(git, { ignored: true });
  const own = (options.leaveOut ?? []).filter((path) => isWithin(root, path)).map((path) => relative(root, path));
  const pinned = new Set([...(earlier?.pinned ?? scan.ignored), ...own]);
  const site: SnapshotSite = {
    ...{ git, root, pinned },
    zeroOid: '00'.repeat(hashBytes),
    ...{ held: { tree: null }, leftOut: null },
    editsTrees: index.entries >= manyEntries && (await storesExactly(store)),
  };
  const [first, hollow] = await Promise.all([
    takeSnapshot(site, { scanned: scan, ignored: true }),
    earlier?.emptyFolders ?? emptyFolders(git, root, { ...scan, touched: [...scan.touched, ...index.absent] }),
  ]);
  const still = createStillTree({ root, ...index });
  still.see({ ...first, beganAtMs });
  const top = location.repository === null ? [''] : [];
  const folders = new Set([...top, ...index.folders, ...scan.untracked.flatMap(ancestors)]);
  const opened: Opened = { location, root, store, site, pinned, index, still, openedAtMs, left: first, folders };
  if ((location.repository?.head ?? null) === null) await giveHead(git, store, first.tree);
  const taken =
    earlier === null
      ? { start: await readStart(opened, first, hollow), users: new Set<string>(), doubtful: null }
      : (await import('./take-found.ts')).takeFound({ root, earlier, ...first, folders }, options.found);
  for (const path of taken.start.pinned) pinned.add(path);
  if (taken.start !== earlier && options.found !== 'kept') await writeStartFacts(storeDir, taken.start);
  const maxPatchBytes = options.maxPatchBytes ?? MAX_PATCH_BYTES;
  const { absent, leftOut } = await findLeftOut(git, { root, start: taken.start, absent: index.absent });
  site.leftOut = leftOut;
  return createWorkspace({
    ...opened,
    ...taken,
    absent,
    storeDir,
    maxPatchBytes,
    first: first.tree,
    stop: options.stop,
  });
};

const outside = async (root: string, storeDir: string): Promise<string> => {
  const folder = resolve(storeDir);
  await mkdir(folder, { recursive: true });
  const real = await realpath(folder);
  if (isWithin(root, real))
    throw new UsageError(`the state folder ${real} lies inside the workspace ${root}`, { code: 'store_inside' });
  return real;
};

interface Opened {
  location: Location;
  root: string;
  store: Store;
  site: SnapshotSite;
  /** The same set as the site's. */
  pinned: Set<string>;
  index: IndexFacts;
  still: StillTree;
  /** Milliseconds since the epoch. */
  openedAtMs: number;
  /** What the first snapshot left out. */
  left: LeftOut;
  /** Of the first tree, maybe some more; the root only where it is no repository. */
  folders: ReadonlySet<string>;
}

interface LeftOut {
  nested: readonly string[];
  /** null: not asked for. */
  ignored: readonly string[] | null;
}

/** Without a HEAD, `git status` would tell of every file, every time. */
const giveHead = async (git: Git, store: Store, tree: TreeId): Promise<void> => {
  const author = ['-c', 'user.name=belay', '-c', 'user.email=belay@localhost'];
  const commit = await git.run([...author, 'commit-tree', '-m', 'start', tree]);
  await writeFile(join(store.gitDir, 'HEAD'), commit);
};

const createWorkspace = (
  opened: Opened &
    TakenFound & {
      absent: readonly string[];
      storeDir: string;
      maxPatchBytes: number;
      first: TreeId;
      stop: AbortSignal | undefined;
    },
): Workspace => {
  const { location, root, store, start, still, site } = opened;
  const { git } = site;
  const users = location.repository?.git ?? null;
  let last: TreeId | null = opened.first;
  let left = opened.left;
  const watch = watchRepositories({
    git,
    root,
    isRepository: users !== null,
    start,
    first: { tree: opened.first, folders: opened.folders },
    doubtful: opened.doubtful,
  });
  const { known, takeAway } = watch;
  site.known = watch.others;
  /** What no tree holds and is younger came after setup. */
  let setUpAtMs = opened.openedAtMs;
  let queue: Promise<unknown> = Promise.resolve();
  /** One at a time for all that reads or writes our index. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = queue.then(act, act);
    queue = next.catch(() => undefined);
    return next;
  };
  const treeish = async (name: string): Promise<string> =>
    /^[0-9a-f]{40,64}$/.test(name) ? name : resolveCommit(users, name);
  return {
    root,
    dir: location.dir,
    base: start.base,
    foreign: [...new Set([...start.submodules, ...start.nested])].sort(),
    gitDirs: gitFolders(location),
    snapshot: (touched = null, { ignored: asked = false } = {}) =>
      inTurn(async () => {
        const before = last;
        const only = before === null || touched === null ? null : narrowedTo(root, touched);
        if (before !== null && (only?.length === 0 || (only === null && still.isAsSeen()))) return before;
        // Unknown until this one ends well.
        last = null;
        still.forget();
        const beganAtMs = Date.now();
        const narrow = only === null || before === null ? null : { only: { paths: only, from: before } };
        const ignored = asked || still.isSmall;
        const { tree, ...rest } = await takeSnapshot(site, narrow ?? { ignored });
        if (only === null) {
          still.see({ ...rest, beganAtMs });
          left = ignored ? rest : { ...rest, ignored: null };
        }
        last = tree;
        return last;
      }),
    changedPaths: async (from, to) => (await entryChanges(git, { from, to })).map(({ path, kind }) => ({ path, kind })),
    diff: (from, to) => diffTrees(git, { from, to }, opened.maxPatchBytes),
    restore: (tree) =>
      inTurn(async () => {
        last = null;
        still.forget();
        const restored = await restoreTree({ ...site, store, start, known, takeAway, users: opened.users }, tree);
        last = restored.snapshot.tree;
        left = { nested: restored.snapshot.nested, ignored: null };
        await watch.remove(tree, known);
        return restored.files;
      }),
    checkRestore: (tree) =>
      inTurn(async () => refuseInto(opened, left.nested, await entryChanges(git, { from: last ?? tree, to: tree }))),
    removeUnrecorded: (options) =>
      inTurn(
        async () =>
          (await removeNewIgnored(site, { start, aside: options?.aside ?? null, watch })) +
          (await removeStray(site, opened.openedAtMs)) +
          (await watch.remove(start.base.tree, watch.ofStart, options?.aside)),
      ),
    takeMoved: watch.takeMoved,
    removeStray: () => inTurn(() => removeStray(site, setUpAtMs)),
    unrecorded: () =>
      inTurn(async () => {
        const ignored = left.ignored ?? (await scanWorkTree(git, { ignored: true })).ignored;
        const made = await watch.made(last ?? start.base.tree, known);
        return [...findUnrecorded({ pinned: opened.pinned, ignored, nested: left.nested, known }), ...made.map(gitIn)];
      }),
    hasPlanted: () =>
      inTurn(async () => {
        if (left.nested.some((folder) => !known.has(folder))) return true;
        return (await watch.made(last ?? start.base.tree, known)).length > 0;
      }),
    makeRecordable: () => inTurn(() => makeRecordable(site)),
    checkout: async (tree, dir) => {
      await mkdir(dir, { recursive: true });
      const { program } = location;
      const place = { git, store, program, hashBytes: site.zeroOid.length / 2, stop: opened.stop };
      return layTree(place, { tree, dir: resolve(dir), absent: opened.absent });
    },
    withPathsOf: (tree, from, paths) => transplant(git, store, { tree, from, paths }),
    read: async (name, path, limits) =>
      readBlob(git, { treeish: await treeish(name), path, maxBytes: limits?.maxBytes ?? MAX_READ_BYTES }),
    readFollowed: (tree, path) => readFollowed(git, { treeish: tree, path }),
    list: async (name) => (await treeEntries(git, await treeish(name))).map((entry) => entry.path),
    proves: (patch, tree, base) => provePatch(git, store, { patch, tree, base: base ?? start.base.tree }),
    ignoredPaths: () =>
      inTurn(async () => {
        const { ignored, nested } = await scanWorkTree(git, { ignored: true });
        for (const path of ignored) opened.pinned.add(path);
        const made = await watch.made(last ?? start.base.tree, known);
        watch.learn([...nested, ...made]);
        setUpAtMs = Date.now();
        await writeStartFacts(opened.storeDir, { ...start, pinned: [...opened.pinned] });
        return ignored;
      }),
    resolveTrustRef: (ref) => resolveCommit(users, ref),
    close: async () => {
      await queue;
      await rm(store.scratch, { recursive: true, force: true });
    },
  };
};
