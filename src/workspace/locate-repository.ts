import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { isWithin } from '../sandbox/index.ts';
import { findAlternates } from './find-alternates.ts';
import { createGit, findGit, type Git } from './git.ts';

/** The user's repository, which we only read. */
export interface Repository {
  /** Read-only calls against the user's own git directory. */
  git: Git;
  /** Real path of the work tree's root. */
  root: string;
  /** Of this work tree: index, info/sparse-checkout. */
  gitDir: string;
  /** Shared by linked worktrees: objects, refs, info/exclude. */
  commonDir: string;
  /** Real paths of further object folders that git reads (a clone by reference, a job's own tree). */
  alternates: readonly string[];
  objectFormat: 'sha1' | 'sha256';
  /** null before the first commit. */
  head: { commit: string; tree: string } | null;
}

export interface Location {
  /** Absolute path of the git program. */
  program: string;
  /** Real path of the folder that was named. */
  dir: string;
  /** null: the folder is in no repository, or in a part of one that the repository ignores. */
  repository: Repository | null;
}

export interface LocateOptions {
  dir: string;
  /** The harness's PATH. */
  path: string;
}

/** Finds the work tree around `dir`. A bare repository, a `.git` that is a link and a broken repository are usage errors. */
export const locateRepository = async (options: LocateOptions): Promise<Location> => {
  const dir = await realFolder(options.dir);
  const marker = await findMarker(dir);
  const program = await findGit(options.path, marker?.root ?? dir);
  if (marker === null) return { program, dir, repository: null };
  if (marker.linked) {
    throw new UsageError(
      `${join(marker.root, '.git')} is a symbolic link; belay cannot protect a git directory behind one`,
      {
        code: 'git_is_a_link',
      },
    );
  }
  if (marker.root.includes('\n')) {
    throw new UsageError(
      `the path ${JSON.stringify(marker.root)} has a line break in it, which git's answers cannot carry`,
      {
        code: 'workspace_name',
      },
    );
  }
  const found = await describe(program, marker.root);
  if (isWithin(found.gitDir, dir) && !isWithin(found.root, dir))
    throw new UsageError(`${dir} is inside a git directory`);
  const repository: Repository = {
    ...found,
    git: createGit(program, found.root, { GIT_DIR: found.gitDir, GIT_WORK_TREE: found.root }),
  };
  if (dir !== repository.root) {
    const ignored = await repository.git.call(['check-ignore', '-q', '--', dir]);
    // A folder with tracked files in it is the repository's, whatever its ignore rules say.
    const tracked =
      ignored.code === 0 && (await repository.git.call(['ls-files', '--error-unmatch', '--', dir])).code === 0;
    if (ignored.code === 0 && !tracked) return { program, dir, repository: null };
  }
  return { program, dir, repository };
};

/** Absolute paths that git needs to read for this work tree: `.git` itself, and what a linked worktree or borrowed objects keep elsewhere. */
export const gitFolders = ({ repository }: Location): string[] => {
  if (repository === null) return [];
  const { root, gitDir, commonDir, alternates } = repository;
  return [...new Set([join(root, '.git'), gitDir, commonDir, ...alternates])];
};

const realFolder = async (path: string): Promise<string> => {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) throw error;
  }
  throw new UsageError(`the workspace ${path} is not a folder that can be read`, { code: 'workspace_missing' });
};

const findMarker = async (dir: string): Promise<{ root: string; linked: boolean } | null> => {
  for (let folder = dir; ; folder = dirname(folder)) {
    try {
      const entry = await lstat(join(folder, '.git'));
      if (entry.isSymbolicLink()) return { root: folder, linked: true };
      if (entry.isFile() || (entry.isDirectory() && (await exists(join(folder, '.git', 'HEAD')))))
        return { root: folder, linked: false };
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) throw error;
    }
    if (dirname(folder) === folder) return null;
  }
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false;
    throw error;
  }
};

const FACTS = [
  '--show-object-format',
  '--is-bare-repository',
  '--absolute-git-dir',
  '--git-common-dir',
  '--show-toplevel',
];

const describe = async (program: string, root: string): Promise<Omit<Repository, 'git'>> => {
  const git = createGit(program, root, {});
  // One start of git for all: it tells the facts before it fails at a HEAD that is not there yet.
  const found = await git.call(['rev-parse', ...FACTS, 'HEAD^{commit}', 'HEAD^{tree}', '--']);
  const [format, bare, gitDir, commonDir, top, commit, tree] = found.stdout.toString('utf8').split('\n');
  if (bare === 'true')
    throw new UsageError(`${root} is a bare repository; belay needs a work tree`, { code: 'bare_repository' });
  if (!format || !gitDir || !commonDir || !top) throw unreadable(root, found.stderr);
  const hasHead = found.code === 0 && commit && tree;
  if (!hasHead && (await git.call(['rev-parse', '--verify', '-q', 'HEAD'])).code === 0)
    throw unreadable(root, found.stderr);
  const common = await realpath(resolve(root, commonDir));
  return {
    root: await realpath(top),
    gitDir: await realpath(gitDir),
    commonDir: common,
    alternates: await findAlternates(join(common, 'objects')),
    objectFormat: format === 'sha256' ? 'sha256' : 'sha1',
    head: hasHead ? { commit, tree } : null,
  };
};

const unreadable = (root: string, message: string): UsageError =>
  new UsageError(`git cannot read the repository at ${root}: ${message.trim()}`, { code: 'repository_unreadable' });
