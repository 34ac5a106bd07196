import { constants } from 'node:fs';
import { chmod, copyFile, lstat, readdir, readlink, realpath, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import type { Holdout } from '../policy/index.ts';
import { holdsSame, linkTarget } from '../workspace/index.ts';
import { makeRealFolder } from './real-folder.ts';

/** Hidden files, found: `from` is absolute and real, `to` is relative to the workspace folder. */
export interface FoundHoldout {
  from: string;
  to: string;
}

export interface Holdouts {
  overlays: readonly FoundHoldout[];
  /** Sources that lie below the repository's root, absolute: the agent must not see them (mount them hidden). */
  insideWorkspace: readonly string[];
}

/** Finds the hidden files of a policy. `policyDir` is the policy file's folder. Throws a UsageError for one that is missing. */
export async function findHoldouts(
  holdout: readonly Holdout[],
  where: { policyDir: string; root: string },
): Promise<Holdouts> {
  const overlays = await Promise.all(holdout.map((one) => findHoldout(one, where.policyDir)));
  const root = await realpath(where.root);
  return {
    overlays,
    insideWorkspace: overlays.map(({ from }) => from).filter((from) => from === root || from.startsWith(`${root}/`)),
  };
}

async function findHoldout({ from, to }: Holdout, policyDir: string): Promise<FoundHoldout> {
  const source = path.resolve(policyDir, from.replace(/\/\*\*$/, ''));
  if (path.isAbsolute(to) || to.split('/').includes('..'))
    throw new UsageError(`verify.holdout: ${to} is not inside the workspace; name a path below it`, {
      code: 'holdout_outside',
    });
  try {
    const isFile = (await stat(source)).isFile();
    const target = to.replace(/\/\*\*$/, '');
    return {
      from: await realpath(source),
      to: isFile && to.endsWith('/') ? path.posix.join(to, path.basename(source)) : target,
    };
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new UsageError(`verify.holdout: ${from} does not exist (looked for ${source})`, {
      code: 'holdout_missing',
      cause: error,
    });
  }
}

/** Every file and link of it, one by one. */
export async function listHoldout({ from, to }: FoundHoldout): Promise<FoundHoldout[]> {
  if (!(await lstat(from)).isDirectory()) return [{ from, to }];
  const inner = (await readdir(from)).map((name) => ({ from: path.join(from, name), to: path.posix.join(to, name) }));
  return (await Promise.all(inner.map(listHoldout))).flat();
}

/** Whether a hidden file, or a link, still is in a folder as it was laid, behind no link of the folder's. */
export async function isLaid({ from, to }: FoundHoldout, dir: string): Promise<boolean> {
  const names = to.split('/');
  for (const [depth] of names.slice(1).entries())
    if ((await statsOf(path.join(dir, ...names.slice(0, depth + 1))))?.isDirectory() !== true) return false;
  const target = path.join(dir, to);
  const [was, now] = [await lstat(from), await statsOf(target)];
  if (now === null || was.isSymbolicLink() !== now.isSymbolicLink()) return false;
  if (was.isSymbolicLink()) return (await readlink(from)) === (await linkTarget(target));
  return now.isFile() && was.size === now.size && (was.mode & 0o777) === (now.mode & 0o777) && holdsSame(from, target);
}

async function statsOf(at: string) {
  try {
    return await lstat(at);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return null;
    throw error;
  }
}

/** Lays hidden files over a folder: theirs win, links of the tree under them are replaced, never followed. */
export async function layHoldout({ from, to }: FoundHoldout, dir: string): Promise<void> {
  const entry = await lstat(from);
  if (entry.isDirectory()) {
    await makeRealFolder(dir, to);
    for (const name of await readdir(from))
      await layHoldout({ from: path.join(from, name), to: path.posix.join(to, name) }, dir);
    return;
  }
  const parent = await makeRealFolder(dir, path.posix.dirname(to));
  const target = path.join(parent, path.posix.basename(to));
  await rm(target, { recursive: true, force: true });
  if (entry.isSymbolicLink()) return symlink(await readlink(from), target);
  if (!entry.isFile())
    throw new UsageError(`verify.holdout: ${from} is neither a file nor a folder`, { code: 'holdout_kind' });
  await copyFile(from, target, constants.COPYFILE_FICLONE);
  await chmod(target, entry.mode & 0o777);
}
