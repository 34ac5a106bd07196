import { join, relative, sep } from 'node:path';
import { UsageError } from '../errors.ts';
import { createGit, splitNul } from './git.ts';
import { layCommit } from './lay-commit.ts';
import { locateRepository } from './locate-repository.ts';
import { createPatchStack, type PatchStack } from './patch-stack.ts';
import { textPath } from './text-path.ts';
import { resolveCommit, treeEntries } from './tree-reader.ts';

/** The user's repository as a place that fresh trees come from. It is only read. */
export interface TreeSource {
  /** Real path of the work tree's root. */
  readonly root: string;
  /** The folder that was named, relative to the root, with `/`; empty for the root itself. */
  readonly below: string;
  /** The commit that a ref names (null: HEAD). Throws UsageError, which calls it `label`. */
  resolve(ref: string | null, label: string): Promise<string>;
  /** Id of a commit's tree. */
  treeOf(commit: string): Promise<string>;
  /** Files of a commit with the ids of their contents. */
  entries(commit: string): Promise<readonly { path: string; oid: string }[]>;
  /** Lays a commit out in a folder that is not there yet, as a repository of its own. */
  layOut(commit: string, dir: string): Promise<void>;
  /** A commit, laid out for patches to be put on it. */
  stack(commit: string, dir: string): Promise<PatchStack>;
  /** Ignored paths of a tree that was laid out, folders as a whole. */
  ignored(dir: string): Promise<readonly string[]>;
}

/** Throws UsageError outside git and before the first commit. `path`: the harness's PATH. */
export async function openTreeSource(where: { dir: string; path: string }): Promise<TreeSource> {
  const { program, dir, repository } = await locateRepository(where);
  if (repository === null)
    throw new UsageError(`${where.dir} is not in a git repository: every job starts from a commit of one`);
  const { head, git } = repository;
  if (head === null) throw new UsageError(`${repository.root} has no commit yet: every job starts from one`);
  return {
    root: repository.root,
    below: relative(repository.root, dir).split(sep).join('/'),
    resolve: async (ref, label) => (ref === null ? head.commit : await resolveCommit(git, ref, label)),
    treeOf: async (commit) => (await git.run(['rev-parse', `${commit}^{tree}`])).toString('latin1').trim(),
    entries: (commit) => treeEntries(git, commit),
    async layOut(commit, target) {
      await layCommit({ program, repository, commit, dir: target });
    },
    async stack(commit, target) {
      await layCommit({ program, repository, commit, dir: target });
      return createPatchStack(program, target);
    },
    async ignored(laid) {
      const own = createGit(program, laid, { GIT_DIR: join(laid, '.git'), GIT_WORK_TREE: laid });
      const listed = await own.run(['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory']);
      return splitNul(listed).map((path) => textPath(path));
    },
  };
}
