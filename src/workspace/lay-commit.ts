import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { createGit, type Git } from './git.ts';
import type { Repository } from './locate-repository.ts';
import { quoteAlternate } from './store.ts';

export interface CommitPlace {
  /** Absolute path of git. */
  program: string;
  repository: Repository;
  /** Full id of a commit of `repository`. */
  commit: string;
  /** A folder that is not there yet. */
  dir: string;
}

/**
 * Checks a commit out into a repository of its own, which borrows the objects of `repository`. Not `git worktree add`: that writes into
 * the user's git directory, and a killed process would leave its registration there.
 */
export async function layCommit({ program, repository, commit, dir }: CommitPlace): Promise<Git> {
  await mkdir(dir, { recursive: true });
  const format = `--object-format=${repository.objectFormat}`;
  await createGit(program, dir, {}).run(['init', '-q', '--template=', '--initial-branch=base', format, dir]);
  await mkdir(join(dir, '.git/objects/info'), { recursive: true });
  await writeFile(
    join(dir, '.git/objects/info/alternates'),
    `${quoteAlternate(join(repository.commonDir, 'objects'))}\n`,
  );
  await copyShallow(repository, dir);
  const git = createGit(program, dir, { GIT_DIR: join(dir, '.git'), GIT_WORK_TREE: dir });
  await git.run(['update-ref', 'HEAD', commit]);
  await git.run(['read-tree', '-u', '--reset', commit]);
  return git;
}

/** Where a shallow clone's history ends: without it, git would look for parents that are not there. */
async function copyShallow({ commonDir }: Repository, dir: string): Promise<void> {
  try {
    await copyFile(join(commonDir, 'shallow'), join(dir, '.git/shallow'));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
