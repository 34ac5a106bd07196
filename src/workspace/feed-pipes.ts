import { closeSync, constants as fs, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';

/** A git call that takes longer may be waiting for somebody to write. */
export const PATIENCE_MS = 2000;
/** Once there was a pipe, there is one the next time. */
export const SHORT_PATIENCE_MS = 100;

/** Files of a tree that git opens without a look at what they are. */
const READ_BY_GIT: ReadonlySet<string> = new Set(['.gitattributes', '.gitignore', '.gitmodules', '.mailmap']);

export interface PipeFeed {
  /** Of the tree that git looks at. */
  root: string;
  afterMs: number;
  /** Aborts when git has ended. */
  over: AbortSignal;
  onFed(): void;
}

/**
 * git waits for ever on a pipe where it expects its rules: whoever writes in the tree could keep a run from its end. Each such pipe is
 * opened and closed, again and again, for a reader that waits, which then finds nothing in it.
 */
export const feedPipes = (feed: PipeFeed): void => {
  const { over, afterMs } = feed;
  let timer: NodeJS.Timeout | null = null;
  const wait = (ms: number): void => {
    if (!over.aborted)
      timer = setTimeout(() => void feedOnce(feed).then((fed) => wait(fed ? SHORT_PATIENCE_MS : ms)), ms);
  };
  over.addEventListener('abort', () => timer !== null && clearTimeout(timer), { once: true });
  wait(afterMs);
};

const feedOnce = async ({ root, over, onFed }: PipeFeed): Promise<boolean> => {
  let hasFed = false;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined && !over.aborted; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== '.git') waiting.push(path);
      if (!entry.isFIFO() || !READ_BY_GIT.has(entry.name) || !openOnce(path)) continue;
      hasFed = true;
      onFed();
    }
  }
  return hasFed;
};

const entriesOf = async (folder: string) => {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG')) return [];
    throw error;
  }
};

/** Whether there was a reader: without one, opening a pipe fails at once. */
const openOnce = (pipe: string): boolean => {
  try {
    closeSync(openSync(pipe, fs.O_WRONLY | fs.O_NONBLOCK | fs.O_NOFOLLOW));
    return true;
  } catch (error) {
    if (!hasCode(error, 'ENXIO', 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG')) throw error;
    return false;
  }
};
