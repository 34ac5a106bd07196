import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hasCode } from '../errors.ts';
import type { Redactor, RedactStream } from '../events/index.ts';
import { orNull } from './or-null.ts';
import type { OutputRecord, OutputWriter } from './thread.ts';

/** Room for all outputs of a thread: more would fill a build machine. */
export const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

const OUTPUT_ID = /^o[1-9]\d{0,8}$/;
/** Bytes of one read: what a tool shows is far less. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Beside a finished output; without it, what is on disk is all that is known. */
const OutputFacts = z.object({ totalBytes: z.int().min(0), storedBytes: z.int().min(0), sha256: z.string() });

export interface OutputRange {
  bytes: Buffer;
  totalBytes: number;
  /** Less than `totalBytes` when there was no more room: the rest was counted and hashed, but not kept. */
  storedBytes: number;
}

export interface OutputStore {
  openOutput(): Promise<OutputWriter>;
  readOutput(id: string, range: { offset: number; limit: number }): Promise<OutputRange | null>;
  close(): Promise<void>;
}

interface Growing {
  handle: FileHandle | null;
  totalBytes: number;
  storedBytes: number;
}

/** Outputs in files of their own. All offsets, sizes and hashes are those of the redacted bytes, which are the ones that are kept. */
export async function openOutputStore(
  folder: string,
  options: { redactor: Pick<Redactor, 'redactStream'>; maxBytes?: number },
): Promise<OutputStore> {
  const before = await findStored(folder);
  const room = { left: Math.max(0, (options.maxBytes ?? MAX_OUTPUT_BYTES) - before.bytes) };
  const growing = new Map<string, Growing>();
  let lastNumber = before.lastNumber;

  return {
    async openOutput() {
      lastNumber++;
      const id = `o${lastNumber}`;
      const output: Growing = { handle: null, totalBytes: 0, storedBytes: 0 };
      growing.set(id, output);
      const stream = options.redactor.redactStream();
      return createOutputWriter({ id, path: join(folder, id), output, room, stream, onEnd: () => growing.delete(id) });
    },
    async readOutput(id, range) {
      const sizes = growing.get(id);
      if (sizes === undefined) return readStoredOutput(folder, id, range);
      const { totalBytes, storedBytes } = sizes;
      return { bytes: await readRange(join(folder, id), { ...range, storedBytes }), totalBytes, storedBytes };
    },
    async close() {
      await Promise.all([...growing.values()].map((output) => output.handle?.close()));
      growing.clear();
    },
  };
}

/** A part of an output that is not being written; null when there is none of that id. */
export async function readStoredOutput(
  folder: string,
  id: string,
  range: { offset: number; limit: number },
): Promise<OutputRange | null> {
  if (!OUTPUT_ID.test(id)) return null;
  const sizes = await readSizes(join(folder, id));
  if (sizes === null) return null;
  const { totalBytes, storedBytes } = sizes;
  return { bytes: await readRange(join(folder, id), { ...range, storedBytes }), totalBytes, storedBytes };
}

function createOutputWriter(options: {
  id: string;
  path: string;
  output: Growing;
  room: { left: number };
  stream: RedactStream;
  onEnd(): void;
}): OutputWriter {
  const { id, path, output, room, stream } = options;
  const hash = createHash('sha256');
  let last: Promise<void> = Promise.resolve();

  async function store(bytes: Buffer): Promise<void> {
    hash.update(bytes);
    output.totalBytes += bytes.length;
    const kept = bytes.subarray(0, room.left);
    if (kept.length === 0) return;
    room.left -= kept.length;
    try {
      output.handle ??= await open(path, 'wx', 0o600);
      await output.handle.appendFile(kept);
      output.storedBytes += kept.length;
    } catch (error) {
      if (!hasCode(error, ...NO_ROOM)) throw error;
      // For good: what is stored of an output is always its beginning.
      room.left = 0;
    }
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
      await output.handle?.close();
      output.handle = null;
      const { totalBytes, storedBytes } = output;
      const record = { totalBytes, storedBytes, sha256: hash.digest('hex') };
      await writeFacts(`${path}.json`, record);
      options.onEnd();
      return { id, ...record };
    },
  };
}

async function writeFacts(path: string, facts: z.infer<typeof OutputFacts>): Promise<void> {
  try {
    await writeFile(path, JSON.stringify(facts), { mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, ...NO_ROOM)) throw error;
  }
}

/** What an earlier run of the thread left: numbers are never given twice, and its bytes count. */
async function findStored(folder: string): Promise<{ lastNumber: number; bytes: number }> {
  const ids = (await readdir(folder)).map((name) => name.replace(/\.json$/, '')).filter((name) => OUTPUT_ID.test(name));
  const sizes = await Promise.all([...new Set(ids)].map((id) => readSizes(join(folder, id))));
  return {
    lastNumber: Math.max(0, ...ids.map((id) => Number(id.slice(1)))),
    bytes: sizes.reduce((sum, size) => sum + (size?.storedBytes ?? 0), 0),
  };
}

async function readSizes(path: string): Promise<{ totalBytes: number; storedBytes: number } | null> {
  const facts = parseFacts(await orNull(readFile(`${path}.json`, 'utf8')));
  if (facts !== null) return facts;
  const handle = await orNull(open(path, 'r'));
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    return { totalBytes: size, storedBytes: size };
  } finally {
    await handle.close();
  }
}

/** null as well when the writer was killed in the middle. */
function parseFacts(text: string | null): z.infer<typeof OutputFacts> | null {
  try {
    return text === null ? null : (OutputFacts.safeParse(JSON.parse(text)).data ?? null);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function readRange(path: string, range: { offset: number; limit: number; storedBytes: number }): Promise<Buffer> {
  const length = Math.min(range.limit, range.storedBytes - range.offset, MAX_READ_BYTES);
  if (!(length > 0) || range.offset < 0) return Buffer.alloc(0);
  const handle = await orNull(open(path, 'r'));
  if (handle === null) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, range.offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
