import {
  chmodSync,
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { hasCode } from '../errors.ts';
import { type Area, accessTo } from './copy-plan.ts';
import { statOrNull } from './mount-plan.ts';

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

const PERMISSIONS = 0o777;

/** `owner`: whom the copy is given to; null: belay's own user. No command may run during either call. */
export function createFolderCopy(area: Area, to: string, owner: Owner | null): FolderCopy {
  /** What both sides looked like when they were last alike. */
  const known = new Map<string, { host: string; copy: string }>();
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

  function refresh(): void {
    const seen = new Set<string>();
    walk(area.root, (below, stat) => {
      if (accessTo(area, below) === 'hidden' || kindOf(stat) === 'other') return false;
      seen.add(below);
      const was = known.get(below);
      const now = statOrNull(copy(below));
      if (was === undefined || was.host !== traitsOf(stat) || now === null || was.copy !== traitsOf(now)) {
        if (!give(host(below), copy(below), owner)) return false;
        known.set(below, { host: traitsOf(stat), copy: traitsOf(lstatSync(copy(below))) });
      }
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
      const isAlike = known.get(below)?.copy === traitsOf(stat);
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
      known.set(below, { host: traitsOf(lstatSync(host(below))), copy: traitsOf(stat) });
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
