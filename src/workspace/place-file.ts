import { createHash } from 'node:crypto';
import { constants as fs, type Stats } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, readlink, rename, rm, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../errors.ts';

/** Owner to give; null: leave. */
export type Owner = { uid: number; gid: number } | null;

/** A harness that is root gives files to whom the workspace belongs. */
export const ownerToGive = async (root: string): Promise<Owner> => {
  if (process.geteuid?.() !== 0) return null;
  const { uid, gid } = await lstat(root);
  return uid === 0 ? null : { uid, gid };
};

export interface Placement {
  /** Where the file or link lies ready. */
  staged: string;
  root: string;
  /** Relative to root. */
  path: string;
  executable: boolean;
  /** Permission bits to give; null: those of the file in place, else the staged file's. */
  mode: number | null;
  owner: Owner;
}

const ANY_EXECUTE = 0o111;
const PERMISSIONS = 0o777;

/** Puts a staged file or link in its place. Nothing on the way is followed: a link or file where a folder belongs is removed. */
export const placeFile = async (placement: Placement): Promise<void> => {
  const { staged, root, path, owner } = placement;
  const target = join(root, path);
  await ensureFolder({ root, path: path.includes('/') ? dirname(path) : '', owner });
  const link = (await lstat(staged)).isSymbolicLink();
  const before = await statOf(target);
  const mode = placement.mode ?? (before?.isFile() === true ? before.mode & PERMISSIONS : null);
  if (before !== null) await removeEntry(target);
  if (link) await inWritableFolder(target, async () => symlink(await readlink(staged), target));
  else await inWritableFolder(target, () => move(staged, target));
  if (!link && mode !== null)
    await chmod(target, placement.executable ? mode | ((mode & 0o444) >> 2) : mode & ~ANY_EXECUTE);
  if (owner !== null) await lchown(target, owner.uid, owner.gid);
};

/** Makes each folder on the way to `path` (relative to `root`) a real one: a file or link in its place goes. */
export const ensureFolder = async ({
  root,
  path,
  owner,
}: {
  root: string;
  path: string;
  owner: Owner;
}): Promise<void> => {
  let at = root;
  for (const name of path === '' ? [] : path.split('/')) {
    at = join(at, name);
    const folder = at;
    const stats = await statOf(folder);
    if (stats?.isDirectory() === true) continue;
    if (stats !== null) await removeEntry(folder);
    await inWritableFolder(folder, () => mkdir(folder));
    if (owner !== null) await lchown(folder, owner.uid, owner.gid);
  }
};

/**
 * The store may lie on another file system than the workspace. The copy gets its name only once it is whole: whoever is killed meanwhile
 * leaves the file as it was or as it was to be, never half of it.
 */
const move = async (from: string, to: string): Promise<void> => {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    // The same name each time: the next one to place this file takes the place of what a killed one left.
    const draft = join(dirname(to), `${DRAFT}${createHash('sha256').update(basename(to)).digest('hex').slice(0, 16)}`);
    await removeEntry(draft);
    await copyFile(from, draft, fs.COPYFILE_EXCL | fs.COPYFILE_FICLONE);
    await rename(draft, to);
    await unlink(from);
  }
};

const DRAFT = '.belay-placing-';

/** Whether a path is what a killed restore left of a file that it was copying. */
export const isDraft = (path: string): boolean => /^\.belay-placing-[0-9a-f]{16}$/.test(basename(path));

/** Removes a file, link or whole folder; links in it are not followed. Absent is fine. */
export const removeEntry = async (path: string): Promise<void> => {
  const stats = await statOf(path);
  if (stats === null) return;
  await inWritableFolder(path, () => (stats.isDirectory() ? rm(path, { recursive: true, force: true }) : unlink(path)));
};

const inWritableFolder = (path: string, act: () => Promise<void>): Promise<void> => inWritable(dirname(path), act);

/** The agent may have taken the write bit from a folder that we own. */
export const inWritable = async (folder: string | Buffer, act: () => Promise<void>): Promise<void> => {
  try {
    await act();
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await chmod(folder, (await lstat(folder)).mode | 0o700);
    await act();
  }
};

/** Of the entry itself, a link not followed; null when there is none. */
export const statOf = (path: string): Promise<Stats | null> =>
  lstat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  });
