import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import type { Redactor, RedactStream } from '../events/index.ts';
import { orNull } from './or-null.ts';
import { isOutputId } from './output-id.ts';
import {
  BLOBS_FOLDER,
  createOutputReader,
  digestOf,
  earlyOutputIds,
  findOutput,
  GROWING_FOLDER,
  type OutputNote,
  type OutputReading,
  readRange,
} from './stored-output.ts';
import { syncPath } from './sync-path.ts';
import type { OutputRecord, OutputWriter } from './thread.ts';

/** Room for all outputs of a thread: more would fill a build machine. */
export const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Ends the name of an output that is being written. */
const GROWING = '.part';
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** What is written is put on disk from time to time, so that at the end of a long output little is left to wait for. */
const SYNC_EVERY_BYTES = 16 * 1024 * 1024;

export interface OutputStore {
  openOutput(): Promise<OutputWriter>;
  readOutput(id: string, range: { offset: number; limit: number }): Promise<OutputReading | null>;
  close(): Promise<void>;
}

export interface OutputStoreOptions {
  /** The thread's folder, with its folder of blobs. */
  dir: string;
  redactor: Pick<Redactor, 'redactStream'>;
  /** What earlier runs kept, by id. */
  kept: ReadonlyMap<string, OutputNote>;
  /** Keeps the note of an output, before anything names it. */
  record(note: OutputNote): Promise<unknown>;
  durable: boolean;
  maxBytes?: number;
}

interface Growing {
  handle: FileHandle | null;
  totalBytes: number;
  storedBytes: number;
}

interface Notes extends Pick<OutputStoreOptions, 'dir' | 'durable' | 'record'> {
  kept: Map<string, OutputNote>;
}

interface Site extends Notes {
  room: { left: number };
}

/**
 * Outputs as blobs under the SHA-256 of their bytes: the same bytes are kept once, and what was changed is found out. All offsets, sizes and
 * hashes are those of the redacted bytes, which are the ones that are kept. An output grows in a file of its own; at its end it is synced,
 * takes its name, and the note that gives it its id is written: only then can anything name it.
 */
export async function openOutputStore(options: OutputStoreOptions): Promise<OutputStore> {
  const { dir, durable, record } = options;
  const kept = new Map(options.kept);
  await keepCutOff({ dir, durable, record, kept });
  const early = await earlyOutputIds(dir);
  const storedBytes = await storedBytesOf({ dir, kept, early });
  const room = { left: Math.max(0, (options.maxBytes ?? MAX_OUTPUT_BYTES) - storedBytes) };
  const site: Site = { dir, durable, record, kept, room };
  const growing = new Map<string, Growing>();
  const readKept = createOutputReader({ dir, notes: kept });
  let lastNumber = [...kept.keys(), ...early].reduce((most, id) => Math.max(most, Number(id.slice(1))), 0);

  return {
    async openOutput() {
      lastNumber++;
      const id = `o${lastNumber}`;
      const output: Growing = { handle: null, totalBytes: 0, storedBytes: 0 };
      growing.set(id, output);
      const stream = options.redactor.redactStream();
      return createOutputWriter({ id, output, site, stream, onEnd: () => growing.delete(id) });
    },
    async readOutput(id, range) {
      const sizes = growing.get(id);
      if (sizes === undefined) return readKept(id, range);
      const { totalBytes, storedBytes } = sizes;
      return { bytes: await readRange(growingPath(dir, id), { ...range, storedBytes }), totalBytes, storedBytes };
    },
    async close() {
      await Promise.all([...growing.values()].map((output) => output.handle?.close()));
      growing.clear();
    },
  };
}

const growingPath = (dir: string, id: string) => join(dir, GROWING_FOLDER, id + GROWING);

/** Bytes that count against the room of a thread; those that several outputs share count once. */
async function storedBytesOf({ dir, kept, early }: Pick<Notes, 'dir' | 'kept'> & { early: readonly string[] }) {
  const blobs = new Map([...kept.values()].map(({ blob, storedBytes }) => [blob, storedBytes]));
  const ofEarly = await Promise.all(early.map((id) => findOutput(dir, new Map(), id)));
  const bytes = [...blobs.values(), ...ofEarly.map((output) => output?.storedBytes ?? 0)];
  return bytes.reduce((sum, one) => sum + one, 0);
}

/** What was growing when an earlier run was killed: as far as it came, it is an output like another. */
async function keepCutOff(site: Notes): Promise<void> {
  const names = (await orNull(readdir(join(site.dir, GROWING_FOLDER)))) ?? [];
  const ids = names.filter((name) => name.endsWith(GROWING)).map((name) => name.slice(0, -GROWING.length));
  for (const id of ids.filter(isOutputId)) {
    const path = growingPath(site.dir, id);
    const { size } = await stat(path);
    if (size === 0) {
      await rm(path);
      continue;
    }
    const sha256 = await digestOf(path);
    const isKept = !site.durable || (await isFileSynced(path));
    if (!isKept) await rm(path);
    const stored = isKept ? { storedBytes: size, blob: sha256 } : { storedBytes: 0, blob: null };
    await keep(site, { kind: 'output', id, totalBytes: size, ...stored, sha256, isCutOff: true });
  }
}

async function isFileSynced(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    return await isSynced(handle);
  } finally {
    await handle.close();
  }
}

/** False where there was no room for it: some file systems tell only here. */
async function isSynced(handle: FileHandle): Promise<boolean> {
  try {
    await handle.datasync();
    return true;
  } catch (error) {
    if (!hasCode(error, ...NO_ROOM)) throw error;
    return false;
  }
}

/** Gives a file that is whole, and on disk, its name, and then its id. */
async function keep({ dir, durable, record, kept }: Notes, note: OutputNote): Promise<void> {
  if (note.blob !== null) {
    // Over one that is there: its bytes are the same, or damaged.
    await rename(growingPath(dir, note.id), join(dir, BLOBS_FOLDER, note.blob));
    if (durable) await syncPath(join(dir, BLOBS_FOLDER));
  }
  kept.set(note.id, note);
  await record(note);
}

function createOutputWriter(options: {
  id: string;
  output: Growing;
  site: Site;
  stream: RedactStream;
  onEnd(): void;
}): OutputWriter {
  const { id, output, site, stream } = options;
  const { room } = site;
  const path = growingPath(site.dir, id);
  const hash = createHash('sha256');
  /** Hex, of what is stored, once the rest is only counted: what is stored of an output is always its beginning. */
  let cutAt: string | null = null;
  let unsyncedBytes = 0;
  let syncing: Promise<void> = Promise.resolve();
  let last: Promise<void> = Promise.resolve();

  async function store(bytes: Buffer): Promise<void> {
    output.totalBytes += bytes.length;
    const stored = cutAt === null ? await write(bytes.subarray(0, room.left)) : 0;
    hash.update(bytes.subarray(0, stored));
    if (stored === bytes.length) return;
    cutAt ??= hash.copy().digest('hex');
    hash.update(bytes.subarray(stored));
  }

  /** Returns how many bytes there was room for. */
  async function write(bytes: Buffer): Promise<number> {
    if (bytes.length === 0) return 0;
    const before = output.storedBytes;
    try {
      output.handle ??= await open(path, 'wx', 0o600);
      await output.handle.appendFile(bytes);
      output.storedBytes += bytes.length;
      room.left -= bytes.length;
      await syncSome(output.handle, bytes.length);
    } catch (error) {
      if (!hasCode(error, ...NO_ROOM)) throw error;
      room.left = 0;
      // A part of it may have found room.
      if (output.handle !== null) output.storedBytes = (await output.handle.stat()).size;
    }
    return output.storedBytes - before;
  }

  async function syncSome(handle: FileHandle, bytes: number): Promise<void> {
    unsyncedBytes += bytes;
    if (!site.durable || unsyncedBytes < SYNC_EVERY_BYTES) return;
    await syncing;
    unsyncedBytes = 0;
    syncing = sync(handle);
    // Told where it is waited for.
    syncing.catch(() => undefined);
  }

  let isLost = false;
  async function sync(handle: FileHandle): Promise<void> {
    if (!(await isSynced(handle))) isLost = true;
  }

  async function finish(): Promise<void> {
    const { handle } = output;
    if (handle === null) return;
    await syncing;
    if (site.durable) await sync(handle);
    await handle.close();
    output.handle = null;
    if (!isLost && output.storedBytes > 0) return;
    room.left = output.storedBytes = 0;
    await rm(path, { force: true });
  }

  /** Chunks are stored in the order of the calls. */
  const enqueue = (step: () => Promise<void>) => {
    last = last.then(step);
    return last;
  };

  return {
    id,
    write: (chunk) => enqueue(() => store(stream.push(chunk))),
    async end(): Promise<OutputRecord> {
      await enqueue(() => store(stream.end()));
      await finish();
      const sha256 = hash.digest('hex');
      const { totalBytes, storedBytes } = output;
      const blob = storedBytes === 0 ? null : (cutAt ?? sha256);
      // The same bytes take no more room.
      if ([...site.kept.values()].some((other) => other.blob !== null && other.blob === blob)) room.left += storedBytes;
      await keep(site, { kind: 'output', id, totalBytes, storedBytes, sha256, blob });
      options.onEnd();
      return { id, totalBytes, storedBytes, sha256 };
    },
  };
}
