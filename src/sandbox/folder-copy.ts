import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { hasCode } from '../errors.ts';
import { type Area, accessTo } from './copy-plan.ts';
import { settledAtMs } from './settled-at.ts';
import { statOrNull } from './stat-or-null.ts';

/** A folder's copy for commands that may not see or write all of it. */
export interface FolderCopy {
  /** Where a path of the folder is in the copy. */
  locate(hostPath: string): string;
  /** Makes the copy like the folder, before a command. */
  refresh(): void;
  /** Makes the folder like the copy where the command may write, after it; returns the changed paths that were left out. */
  takeBack(): string[];
}

interface Owner {
  uid: number;
  gid: number;
}

/** What both sides of an entry looked like when they were last alike. */
interface Alike {
  host: string;
  copy: string;
  /** Whether that was so long ago that a later change shows in the times: the contents have to tell otherwise. */
  isSettled: boolean;
}

const BLOCK_BYTES = 65_536;
const PERMISSIONS = 0o777;

/** `owner`: whom the copy is given to; null: belay's own user. No command may run during either call. */
export function createFolderCopy(area: Area, to: string, owner: Owner | null): FolderCopy {
  const known = new Map<string, Alike>();
  const host = (below: string): string => path.join(area.root, below);
  const copy = (below: string): string => path.join(to, below);

  /** False where belay's user may not read it. */
  function give(from: string, target: string, whom: Owner | null): boolean {
    try {
      makeAlike(from, lstatSync(from), target);
    } catch (error) {
      if (hasCode(error, 'EACCES')) return false;
      throw error;
    }
    if (whom !== null) lchownSync(target, whom.uid, whom.gid);
    return true;
  }

  function remember(below: string, ofHost: Stats, ofCopy: Stats): void {
    const isSettled = Math.max(settledAtMs(ofHost), settledAtMs(ofCopy)) < Date.now();
    known.set(below, { host: traitsOf(ofHost), copy: traitsOf(ofCopy), isSettled });
  }

  /** Whether the copy is what it was, of an entry of which the host's looks so. */
  function isStill(below: string, was: Alike, now: Stats): boolean {
    return was.copy === traitsOf(now) && (was.isSettled || now.isDirectory() || holdsSame(host(below), copy(below)));
  }

  function refresh(): void {
    const seen = new Set<string>();
    walk(area.root, (below, stat) => {
      if (accessTo(area, below) === 'hidden' || kindOf(stat) === 'other') return false;
      seen.add(below);
      const was = known.get(below);
      const now = statOrNull(copy(below));
      const isAlike = now !== null && was?.host === traitsOf(stat) && isStill(below, was, now);
      if (!isAlike && !give(host(below), copy(below), owner)) return false;
      if (!isAlike || !was.isSettled) remember(below, stat, lstatSync(copy(below)));
      return stat.isDirectory();
    });
    for (const below of pathsOf(to)) if (!seen.has(below)) removeTree(copy(below), () => true);
    for (const below of known.keys()) if (!seen.has(below)) known.delete(below);
  }

  function takeBack(): string[] {
    const refused: string[] = [];
    const present = new Set<string>();
    const mayWrite = (below: string): boolean => accessTo(area, below) === 'write';
    walk(to, (below, stat) => {
      present.add(below);
      const was = known.get(below);
      const isAlike = was !== undefined && isStill(below, was, stat);
      if (isAlike) return stat.isDirectory();
      const isTaken =
        mayWrite(below) &&
        kindOf(stat) !== 'other' &&
        isInFolders(below) &&
        makeRoom(below, stat) &&
        give(copy(below), host(below), ownerOf(path.dirname(host(below))));
      if (!isTaken) {
        refused.push(below);
        return stat.isDirectory() && known.has(below);
      }
      remember(below, lstatSync(host(below)), stat);
      return stat.isDirectory();
    });
    for (const below of [...known.keys()].toReversed()) {
      if (present.has(below)) continue;
      const at = host(below);
      const isGone = !isInFolders(below);
      if (isGone || (mayWrite(below) && removeTree(at, (found) => mayWrite(path.relative(area.root, found)))))
        known.delete(below);
      else refused.push(below);
    }
    return refused;
  }

  /** Whether the way to it, on the host, is one of folders: what the command put in their place may be a link that leads out. */
  function isInFolders(below: string): boolean {
    const names = below.split('/').slice(0, -1);
    return names.every((_, index) => statOrNull(host(names.slice(0, index + 1).join('/')))?.isDirectory() === true);
  }

  /** Whether the host has, or can be made to have, nothing of another kind there. */
  function makeRoom(below: string, stat: Stats): boolean {
    const there = statOrNull(host(below));
    if (there === null || (there.isDirectory() && stat.isDirectory())) return true;
    return removeTree(host(below), (found) => accessTo(area, path.relative(area.root, found)) === 'write');
  }

  return {
    locate: (hostPath) => copy(path.relative(area.root, hostPath)),
    refresh,
    takeBack,
  };
}

type Kind = 'folder' | 'file' | 'link' | 'other';

function kindOf(stat: Stats): Kind {
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'file' : 'other';
}

/** Differs whenever the entry was changed: no user can set `ctime`. A folder's changes with each of its entries, which tell for themselves. */
function traitsOf(stat: Stats): string {
  const permissions = (stat.mode & PERMISSIONS).toString(8);
  return stat.isDirectory()
    ? `folder ${permissions}`
    : `${kindOf(stat)} ${permissions} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}`;
}

/** Whether two files or links, equal by their traits, are equal. */
function holdsSame(one: string, other: string): boolean {
  const open: number[] = [];
  try {
    if (lstatSync(one).isSymbolicLink()) return readlinkSync(one) === readlinkSync(other);
    for (const file of [one, other]) open.push(openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW));
    for (;;) {
      const blocks = open.map((file) => {
        const block = Buffer.alloc(BLOCK_BYTES);
        return block.subarray(0, readSync(file, block));
      });
      const [left = EMPTY, right = EMPTY] = blocks;
      if (!left.equals(right)) return false;
      if (left.length === 0) return true;
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EINVAL')) return false;
    throw error;
  } finally {
    for (const file of open) closeSync(file);
  }
}

const EMPTY = Buffer.alloc(0);

function ownerOf(folder: string): Owner | null {
  const { uid, gid } = lstatSync(folder);
  return process.geteuid?.() === 0 ? { uid, gid } : null;
}

/** Calls `visit` for everything below, outer before inner and by name; goes into a folder when it says so. Follows no link. */
function walk(root: string, visit: (below: string, stat: Stats) => boolean): void {
  const open = [''];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const folders: string[] = [];
    for (const name of readdirSync(path.join(root, at)).sort()) {
      const below = at === '' ? name : `${at}/${name}`;
      const stat = statOrNull(path.join(root, below));
      if (stat !== null && visit(below, stat)) folders.push(below);
    }
    open.push(...folders.reverse());
  }
}

function pathsOf(root: string): string[] {
  const found: string[] = [];
  walk(root, (below, stat) => {
    found.push(below);
    return stat.isDirectory();
  });
  return found;
}

/** Puts what `from` is at `to`, whose parent is a real folder. Set-user-id bits are not carried over. */
function makeAlike(from: string, stat: Stats, to: string): void {
  if (stat.isDirectory()) {
    if (statOrNull(to)?.isDirectory() !== true) {
      removeTree(to, () => true);
      mkdirSync(to);
    }
    // What is in it comes after it.
    chmodSync(to, (stat.mode & PERMISSIONS) | 0o700);
    return;
  }
  removeTree(to, () => true);
  if (stat.isSymbolicLink()) {
    symlinkSync(readlinkSync(from), to);
    return;
  }
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(to, stat.mode & PERMISSIONS);
  // Builds compare times.
  utimesSync(to, stat.atimeMs / 1000, stat.mtimeMs / 1000);
}

/** Removes what may be removed; whether nothing is left. Follows no link. */
function removeTree(at: string, mayRemove: (found: string) => boolean): boolean {
  const stat = statOrNull(at);
  if (stat === null) return true;
  if (!mayRemove(at)) return false;
  if (!stat.isDirectory()) {
    unlinkSync(at);
    return true;
  }
  let isEmpty = true;
  for (const name of readdirSync(at)) isEmpty = removeTree(path.join(at, name), mayRemove) && isEmpty;
  if (isEmpty) rmdirSync(at);
  return isEmpty;
}
