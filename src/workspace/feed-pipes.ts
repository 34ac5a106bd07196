import { closeSync, constants as fs, openSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import { joinBytes } from './byte-path.ts';
import { entriesOf } from './entries-of.ts';

/** When a git call is looked after that has not ended yet, in milliseconds from its start. */
export interface Patience {
  /** It may be waiting for somebody to write where it expects its rules, or a repository. */
  afterMs: number;
  /** It may be waiting at any pipe: a `.git` can lead to files of every name. */
  anyAfterMs: number;
}

export const PATIENCE: Patience = { afterMs: 2000, anyAfterMs: 10_000 };
/** Once there was a pipe, there is one the next time. */
export const SHORT_PATIENCE: Patience = { afterMs: 100, anyAfterMs: 100 };

/** Files of a tree that git opens without a look at what they are. */
const READ_BY_GIT: ReadonlySet<string> = new Set(['.gitattributes', '.gitignore', '.gitmodules', '.mailmap']);
const OWN_FOLDER = Buffer.from('.git');

export interface PipeFeed {
  /** Of the tree that git looks at. */
  root: string;
  patience: Patience;
  onFed(): void;
}

/**
 * git waits for ever on a pipe where it expects its rules, or files of a repository in a folder of the tree: whoever writes there could
 * keep a run from its end. Each such pipe is opened and closed, again and again, for a reader that waits, which then finds nothing in it.
 * Returns what ends that.
 */
export const feedPipes = (feed: PipeFeed): (() => void) => {
  const { patience } = feed;
  const begunMs = performance.now();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const feedsAny = performance.now() - begunMs >= patience.anyAfterMs;
    const fed = await feedOnce(feed, { feedsAny, isOver: () => isOver });
    if (!isOver) wait(fed ? SHORT_PATIENCE.afterMs : patience.afterMs);
  };
  const wait = (ms: number): void => {
    timer = setTimeout(() => void look(), ms);
  };
  wait(patience.afterMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
};

interface Folder {
  /** Names need not be UTF-8. */
  path: Buffer;
  isRoot: boolean;
  /** Whether it is a `.git`, or lies in one. */
  inGit: boolean;
}

/** What cannot be read is not fed: the look is a courtesy, and a machine out of files has other worries. */
const feedOnce = async (
  { root, onFed }: PipeFeed,
  { feedsAny, isOver }: { feedsAny: boolean; isOver(): boolean },
): Promise<boolean> => {
  let hasFed = false;
  const waiting: Folder[] = [{ path: Buffer.from(root), isRoot: true, inGit: false }];
  for (let folder = waiting.pop(); folder !== undefined && !isOver(); folder = waiting.pop()) {
    for (const entry of await entriesOf(folder.path)) {
      const path = joinBytes(folder.path, entry.name);
      const isGit = entry.name.equals(OWN_FOLDER);
      // Of the root's own, git is told where it is.
      if (entry.isDirectory() && !(isGit && folder.isRoot))
        waiting.push({ path, isRoot: false, inGit: folder.inGit || isGit });
      const isRead = feedsAny || folder.inGit || READ_BY_GIT.has(entry.name.toString('latin1'));
      if (!entry.isFIFO() || !isRead || !openOnce(path)) continue;
      hasFed = true;
      onFed();
    }
  }
  return hasFed;
};

/** Whether there was a reader: without one, opening a pipe fails at once. */
const openOnce = (pipe: Buffer): boolean => {
  try {
    closeSync(openSync(pipe, fs.O_WRONLY | fs.O_NONBLOCK | fs.O_NOFOLLOW));
    return true;
  } catch (error) {
    if (codeOf(error) !== null) return false;
    throw error;
  }
};
