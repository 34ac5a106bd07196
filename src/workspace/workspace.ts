import type { ChangedFile } from '../events/index.ts';

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

/**
 * The folder under work. Its snapshots live in a git object store outside of it; nothing here runs a program that the tree
 * names (hooks, filters, fsmonitor), moves the user's index, stash, branches or refs, or follows a link out.
 */
export interface Workspace {
  /** Real path of the repository's root (of the folder itself outside git). */
  readonly root: string;
  /** Real path of the writable folder; `root` or below it. */
  readonly dir: string;
  readonly base: BaseState;
  /** The tree as it is now: tracked and untracked files, ignored ones left out. Only changed files are read again. */
  snapshot(): Promise<TreeId>;
  /** Names and kinds only: cheap. */
  changedPaths(from: TreeId, to: TreeId): Promise<readonly { path: string; kind: 'add' | 'update' | 'delete' }[]>;
  diff(from: TreeId, to: TreeId): Promise<TreeChange>;
  /** Puts files back so that `snapshot()` equals `tree`; returns how many changed. Ignored files stay. */
  restore(tree: TreeId): Promise<number>;
  /** Lays the tree out in an empty folder. */
  checkout(tree: TreeId, dir: string): Promise<void>;
  /** A tree like `tree`, but with the paths given as they are in `from` (removed where `from` lacks them). */
  withPathsOf(tree: TreeId, from: TreeId, paths: readonly string[]): Promise<TreeId>;
  /** Content of a file in a tree or commit; null when it is not there. */
  read(treeish: string, path: string): Promise<Buffer | null>;
  list(treeish: string): Promise<readonly string[]>;
  /** Whether base + patch, freshly checked out and applied, is `tree`. */
  proves(patch: Buffer, tree: TreeId): Promise<boolean>;
  /** Ignored paths that exist now (directories collapsed), relative to root. */
  ignoredPaths(): Promise<readonly string[]>;
  close(): Promise<void>;
}
