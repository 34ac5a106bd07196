import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, hasCode, SinkError, UsageError } from '../errors.ts';
import type { EventSink } from './event.ts';

/** A file that takes whole lines, each with its newline. */
export interface LineFile {
  write(line: string): Promise<void>;
  close(): Promise<void>;
}

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

/**
 * Every event as its line in a file, which is emptied first and synced at the end. Throws UsageError when it cannot be opened.
 * When the disk is full, a half-written line is taken back: what is there can still be read.
 */
export async function createFileSink(path: string): Promise<EventSink & LineFile> {
  const handle = await openForLines(path);
  let wholeBytes = 0;

  async function giveUp(error: unknown): Promise<never> {
    // A device or a pipe cannot be truncated; the failure that counts is the one that brought us here.
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

async function openForLines(path: string): Promise<FileHandle> {
  try {
    return await open(path, FLAGS, 0o644);
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    const what = code === 'ENOENT' ? `the folder ${dirname(path)} does not exist; create it first` : code;
    throw new UsageError(`cannot write events to ${path}: ${what}`, { code: 'events_file', cause: error });
  }
}

/** Pipes and devices have nothing to sync. */
async function syncFile(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EROFS')) throw error;
  }
}
