import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** An append-only file of lines, written in batches: what is waiting goes out in one write, and one sync serves all that ask for it. */
export interface Journal {
  /** Resolves when the line is with the operating system: a killed process cannot lose it, a lost machine can. */
  append(line: string): Promise<void>;
  /** Resolves when every line appended before the call is on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Up to here (UTF-16 units) handing the write to another thread and back takes ten times as long as the write. */
const SHORT = 64 * 1024;

function writeWhole(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

/** `durable: false` skips every sync, for what is thrown away in the end. */
export async function openJournal(path: string, { durable }: { durable: boolean }): Promise<Journal> {
  const handle = await open(path, 'a', 0o600);
  let waiting: string[] = [];
  let lastWrite: Promise<void> = Promise.resolve();
  let nextWrite: Promise<void> | null = null;
  let lastSync: Promise<void> = Promise.resolve();
  let nextSync: Promise<void> | null = null;
  let unsynced = false;

  async function writeWaiting(): Promise<void> {
    const batch = waiting;
    waiting = [];
    nextWrite = null;
    const text = batch.join('');
    if (text.length > SHORT) await handle.appendFile(text);
    else writeWhole(handle.fd, Buffer.from(text));
    unsynced = true;
  }

  async function sync(): Promise<void> {
    nextSync = null;
    await lastWrite;
    if (!unsynced || !durable) return;
    unsynced = false;
    await handle.datasync();
  }

  function append(line: string): Promise<void> {
    waiting.push(line);
    // After a failed write nothing follows: the file would go on behind a gap.
    if (nextWrite === null) nextWrite = lastWrite = lastWrite.then(writeWaiting);
    return nextWrite;
  }

  function flush(): Promise<void> {
    if (nextSync === null) nextSync = lastSync = lastSync.then(sync);
    return nextSync;
  }

  return {
    append,
    flush,
    async close() {
      try {
        await flush();
      } finally {
        await handle.close();
      }
    },
  };
}
