import * as callbacks from 'node:fs';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf, hasCode, SinkError, type UsageError } from '../errors.ts';
import { createStreamWriter } from './stream-sink.ts';

/** A file that takes whole lines, each with its newline. `write` and `close` reject with a SinkError; after one, nothing more is taken. */
export interface LineFile {
  write(line: string): Promise<void>;
  /** Whether its name still stands for it. A pipe or a device is what was opened, whatever has its name. */
  isInPlace(): Promise<boolean>;
  close(): Promise<void>;
}

export interface LineFileOptions {
  /** What the user is told of a file that cannot be opened; `code` is the system's. */
  refuse(code: string, cause: unknown): UsageError;
  /** Ends the wait for the reader of a named pipe. */
  signal?: AbortSignal;
}

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;
const UNTIL_READER_MS = 50;

/**
 * Opens a file once, emptied: whoever takes its name later gets none of the lines. When the disk is full, a half-written line is taken
 * back: what is there can still be read. Closing syncs it.
 */
export async function openLineFile(path: string, options: LineFileOptions): Promise<LineFile> {
  try {
    return (await factsOf(path))?.isFIFO() === true
      ? await openPipe(path, options.signal)
      : await createPlainFile(path, await open(path, FLAGS, 0o644));
  } catch (error) {
    const code = codeOf(error);
    if (code === null || options.signal?.aborted === true) throw error;
    throw options.refuse(code, error);
  }
}

async function createPlainFile(path: string, handle: FileHandle): Promise<LineFile> {
  const opened = await handle.stat();
  let wholeBytes = 0;

  async function giveUp(error: unknown): Promise<never> {
    // A device cannot be truncated; the failure that counts is the one that brought us here.
    await handle.truncate(wholeBytes).catch(() => undefined);
    await handle.close().catch(() => undefined);
    throw new SinkError(path, error);
  }

  return {
    async write(line) {
      try {
        await handle.appendFile(line);
        wholeBytes += Buffer.byteLength(line);
      } catch (error) {
        await giveUp(error);
      }
    },
    async isInPlace() {
      if (!opened.isFile()) return true;
      const now = await factsOf(path);
      return now !== null && now.dev === opened.dev && now.ino === opened.ino;
    },
    async close() {
      try {
        await syncFile(handle);
        await handle.close();
      } catch (error) {
        await giveUp(error);
      }
    },
  };
}

/**
 * Never blocks: a thread of Node's pool that waits for the other end of a pipe would keep the process from its exit. The kernel has no
 * event for "there is a reader now", so that one is looked for.
 */
async function openPipe(path: string, signal: AbortSignal | undefined): Promise<LineFile> {
  const openNow = promisify(callbacks.open);
  for (;;) {
    try {
      const fd = await openNow(path, constants.O_WRONLY | constants.O_NONBLOCK);
      const { Socket } = await import('node:net');
      const socket = new Socket({ fd, readable: false, writable: true });
      const { write, flush } = createStreamWriter(socket, path);
      return {
        write,
        isInPlace: async () => true,
        async close() {
          await flush();
          socket.destroy();
        },
      };
    } catch (error) {
      if (!hasCode(error, 'ENXIO')) throw error;
      await pause(UNTIL_READER_MS, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function factsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return null;
  }
}

/** Devices have nothing to sync. */
async function syncFile(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EROFS')) throw error;
  }
}
