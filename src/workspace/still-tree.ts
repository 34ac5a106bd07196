import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { settledAtMs } from '../sandbox/index.ts';

/**
 * Knows whether a small tree is as it was when git last looked at all of it, by the stat data of every entry: the look takes less time
 * than starting git. Anything that it cannot be sure of counts as a change.
 */
export interface StillTree {
  /** Whether a look of git's can be remembered at all; it is to tell of ignored paths then. */
  readonly isSmall: boolean;
  isAsSeen(): boolean;
  /** After a look of git's at the whole tree that left nothing to record. */
  see(look: GitLook): void;
  /** The tree that is known is another one now. */
  forget(): void;
}

export interface GitLook {
  /** Before it began, in milliseconds since the epoch. */
  beganAtMs: number;
  /** Folders and files that git passes over as long as the ignore rules are as they are: only their names count. */
  ignored: readonly string[];
  /** Folders with a repository of their own, of which git sees more than stat data tells. */
  nested: readonly string[];
}

export interface StillTreeOptions {
  root: string;
  /** Entries of the index. */
  entries: number;
  /** Folders of submodules: git does not look into them. */
  submodules: readonly string[];
}

/** For so many entries git is started in the same time. */
const MOST_ENTRIES = 1000;

export const createStillTree = ({ root, entries, submodules }: StillTreeOptions): StillTree => {
  let isSmall = entries <= MOST_ENTRIES;
  let closed: ReadonlySet<string> = new Set();
  let seen: string | null = null;
  return {
    get isSmall() {
      return isSmall;
    },
    isAsSeen: () => seen !== null && lookAt(root, closed)?.signature === seen,
    see({ beganAtMs, ignored, nested }) {
      seen = null;
      closed = new Set([...ignored, ...submodules]);
      const look = isSmall && nested.length === 0 ? lookAt(root, closed) : null;
      isSmall = look !== null;
      // What changed since git began, or within one tick of the clock before, may look as it did when git saw it.
      if (look !== null && look.settledMs < beganAtMs) seen = look.signature;
    },
    forget() {
      seen = null;
    },
  };
};

interface Look {
  /** Equal for two looks between which nothing changed. */
  signature: string;
  /** From here on, a change gives another time stamp to each of the entries. */
  settledMs: number;
}

/** null for a tree that is too large, that changes meanwhile, or of which not everything can be seen. Follows no link. */
const lookAt = (root: string, closed: ReadonlySet<string>): Look | null => {
  const waiting = [''];
  const found: string[] = [];
  let settledMs = 0;
  const statOf = (path: string) => {
    const stats = lstatSync(join(root, path));
    settledMs = Math.max(settledMs, settledAtMs(stats));
    return stats;
  };
  try {
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      // Of a folder only what it holds counts, but a name that came or went just now may be one that git has not seen.
      statOf(folder);
      for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
        if (found.length >= MOST_ENTRIES) return null;
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.name === '.git' && folder !== '') return null;
        if (entry.name === '.git' || closed.has(path)) {
          found.push(`${path}\0${kindOf(entry)}`);
        } else if (entry.isDirectory()) {
          found.push(`${path}\0folder`);
          waiting.push(path);
        } else {
          const { ino, mode, size, mtimeMs, ctimeMs } = statOf(path);
          found.push(`${path}\0${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`);
        }
      }
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return null;
    throw error;
  }
  return { signature: found.join('\0'), settledMs };
};

const kindOf = (entry: Dirent): string =>
  entry.isDirectory() ? 'closed folder' : entry.isSymbolicLink() ? 'closed link' : 'closed file';
