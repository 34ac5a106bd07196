import type { ChangedFile, FileChange } from '../events/index.ts';

/** A git tree id in the workspace's own object store (outside the workspace). */
export type TreeId = string;

export interface BaseState {
  /** Commit that the user's HEAD names; null outside git or before the first commit. */
  commit: string | null;
  /** Whether tracked or untracked (not ignored) files differ from that commit. */
  dirty: boolean;
  git: boolean;
  /** The tree of the workspace as it was when the run started: what the patch is against. */
  tree: TreeId;
}

/** A change between two trees. Paths are relative to the repository's root, with `/`. */
export interface TreeChange {
  files: readonly ChangedFile[];
  /** A patch that `git apply` takes, binary and mode changes included. */
  patch: Buffer;
  sha256: string;
}

/** What was taken out of the workspace, and is kept. */
export interface MovedAside {
  /** Relative to the workspace's root. Of a repository, its folder, or its `.git` where files of the folder are in the tree. */
  path: string;
  kind: 'repository' | 'ignored';
  to: string;
}

/** A tree in a folder of its own, in which programs run. What they add to it is never looked at. */
export interface LaidTree {
  /** Paths of the tree that are not as they were laid any more: contents, kind and executable bit. Starts git once, and only reads. */
  changed(): Promise<readonly string[]>;
  /** Puts such paths back. Nothing may run in the folder meanwhile: a link that comes at the wrong moment would lead out. Returns why it could not, or null. */
  putBack(paths: readonly string[]): Promise<string | null>;
  /** Forgets the tree; the files stay. */
  close(): Promise<void>;
}

/**
 * The folder under work. Its snapshots live in a git object store outside of it; nothing here runs a program that the tree
 * names (hooks, filters, fsmonitor), moves the user's index, stash, branches or refs, or follows a link out.
 *
 * What a snapshot holds: tracked and untracked files and links, with the bytes on disk and the executable bit. What it leaves out:
 * ignored files (by the ignore rules as they are now; what was ignored when `ignoredPaths` was last asked, or at the start, stays
 * out whatever happens to the rules), empty folders, FIFOs, sockets and devices, and the contents of `foreign` folders.
 *
 * Methods reject with a `UsageError`; its `code` tells `file_name` (not UTF-8, or one git refuses), `unreadable`, `missing_object`
 * (partial clone), `too_large`, `git_failed`.
 */
export interface Workspace {
  /** Real path of the repository's root (of the folder itself outside git). */
  readonly root: string;
  /** Real path of the writable folder; `root` or below it. */
  readonly dir: string;
  readonly base: BaseState;
  /** Folders with a repository of their own when the run began (submodules, nested clones), relative to root: to be read-only. */
  readonly foreign: readonly string[];
  /** Real paths of the repository's git directories (a linked worktree has two, and a `.git` file): to be read-only. */
  readonly gitDirs: readonly string[];
  /**
   * The tree as it is now: tracked and untracked files, ignored ones left out. Only changed files are read again. `touched`: paths relative
   * to root of all that was written since the last snapshot, where that is known for certain; nothing else is looked at then. `ignored`:
   * whoever will ask for what is `unrecorded` next spares a look of its own, which a big tree takes long for.
   */
  snapshot(touched?: readonly string[] | null, options?: { ignored?: boolean }): Promise<TreeId>;
  /** Names and kinds only: cheap. */
  changedPaths(from: TreeId, to: TreeId): Promise<readonly FileChange[]>;
  diff(from: TreeId, to: TreeId): Promise<TreeChange>;
  /** Puts files back so that `snapshot()` equals `tree`; returns how many changed. Ignored files stay, and repositories that were there at the start or when `ignoredPaths` was asked. */
  restore(tree: TreeId): Promise<number>;
  /** Throws a UsageError `workspace_changed` where `restore` would, after a snapshot of all: for a repository that a user made where the tree has files. */
  checkRestore(tree: TreeId): Promise<void>;
  /**
   * Removes what git does not record and was not there: ignored files that were not there when `ignoredPaths` was asked either, repositories
   * that were not there at the start, and what `removeStray` does, also where it is older than `ignoredPaths`. Returns how many. `aside`: a folder
   * that ignored files and repositories are moved into instead.
   */
  removeUnrecorded(options?: { aside: string }): Promise<number>;
  /** What was moved aside since this was last asked: what the option `found` is about, and what `removeUnrecorded` moved. */
  takeMoved(): readonly MovedAside[];
  /**
   * Removes pipes, sockets, devices and empty folders of names that are not UTF-8, made since `ignoredPaths` was asked (else since this was
   * opened), but no socket that a program listens on. Returns how many.
   */
  removeStray(): Promise<number>;
  /**
   * Paths that the last snapshot of everything left out and that were not there, neither at the start nor when `ignoredPaths` was asked:
   * ignored files and folders, and the `.git` of repositories. (What lies in an ignored folder is not looked at.)
   */
  unrecorded(): Promise<readonly string[]>;
  /** Whether there is a repository, in a folder of its own or of the tree, that was not there; `restore` takes it away. */
  hasPlanted(): Promise<boolean>;
  /** After a snapshot that was refused for a name or a mode: what keeps it from being taken goes, or is opened. */
  makeRecordable(): Promise<void>;
  /** Lays the tree out in an empty folder; without what a sparse checkout leaves out and without the contents of submodules. */
  checkout(tree: TreeId, dir: string): Promise<LaidTree>;
  /** A tree like `tree`, but with the paths given as they are in `from` (removed where `from` lacks them). */
  withPathsOf(tree: TreeId, from: TreeId, paths: readonly string[]): Promise<TreeId>;
  /** Content of a file (target of a link) in a tree or commit; null when it is not there. `maxBytes`: 64 MiB by default. */
  read(treeish: string, path: string, options?: { maxBytes?: number }): Promise<Buffer | null>;
  /** As `read`, of a tree; a link is followed inside that tree, and is no file where it leads elsewhere. 16 MiB at most. */
  readFollowed(tree: TreeId, path: string): Promise<Buffer | null>;
  /** Files and links, sorted by git. */
  list(treeish: string): Promise<readonly string[]>;
  /** Whether base + patch, freshly applied, is `tree`. `base`: the start's tree (of a clean start: of its commit) by default. */
  proves(patch: Buffer, tree: TreeId, base?: TreeId): Promise<boolean>;
  /** Ignored paths that exist now (directories collapsed, no `/` at the end), relative to root. Pins them: see above. */
  ignoredPaths(): Promise<readonly string[]>;
  /** The commit that a `--trust-ref` names; a `UsageError` when there is none. */
  resolveTrustRef(ref: string): Promise<string>;
  /** Waits for what is going on and removes temporary files. Snapshots stay. */
  close(): Promise<void>;
}
