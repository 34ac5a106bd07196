import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { jsonOf } from '../events/index.ts';
import { orNull } from './or-null.ts';
import { isOutputId } from './output-id.ts';
import type { ThreadNote } from './thread-note.ts';

export type OutputNote = Extract<ThreadNote, { kind: 'output' }>;

/** Below a thread's folder: what outputs came to, each under the SHA-256 of its bytes; and those that are growing. */
export const BLOBS_FOLDER = join('blobs', 'sha256');
export const GROWING_FOLDER = 'blobs';
/** Threads of format 1 have an output under its id, and its facts beside it. */
export const OUTPUTS_FOLDER = 'outputs';

/** Bytes of one read: what a tool shows is far less. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** Beside an output of format 1 that came to its end; without it, what is on disk is all that is known. */
const OutputFacts = z.object({ totalBytes: z.int().min(0), storedBytes: z.int().min(0), sha256: z.string() });

export interface OutputRange {
  bytes: Buffer;
  totalBytes: number;
  /** Less than `totalBytes` when there was no more room: the rest was counted and hashed, but not kept. */
  storedBytes: number;
}

/** `fault`: why what is on disk is not what was kept. */
export type OutputReading = OutputRange | { fault: string };

interface StoredOutput {
  id: string;
  totalBytes: number;
  storedBytes: number;
  /** null: none of its bytes was kept. */
  path: string | null;
  /** Hex, of the bytes that were kept; null where that is not on record (format 1, cut short). */
  sha256: string | null;
}

/** Names of the files that the notes speak of. */
export const blobsOf = (notes: ReadonlyMap<string, OutputNote>): Set<string> =>
  new Set([...notes.values()].flatMap(({ blob }) => (blob === null ? [] : [blob])));

/** By its note or, in a thread of format 1, by its name; null when there is none of that id. */
export async function findOutput(
  dir: string,
  notes: ReadonlyMap<string, OutputNote>,
  id: string,
): Promise<StoredOutput | null> {
  if (!isOutputId(id)) return null;
  const note = notes.get(id);
  if (note === undefined) return findEarlyOutput(dir, id);
  const { totalBytes, storedBytes, blob } = note;
  return { id, totalBytes, storedBytes, path: blob === null ? null : join(dir, BLOBS_FOLDER, blob), sha256: blob };
}

/** Of a thread of format 1. */
async function findEarlyOutput(dir: string, id: string): Promise<StoredOutput | null> {
  const path = join(dir, OUTPUTS_FOLDER, id);
  const facts = parseFacts(await orNull(readFile(`${path}.json`, 'utf8')));
  if (facts !== null) {
    const { totalBytes, storedBytes, sha256 } = facts;
    const isWhole = storedBytes === totalBytes;
    return {
      ...{ id, totalBytes, storedBytes },
      ...{ path: storedBytes === 0 ? null : path, sha256: isWhole ? sha256 : null },
    };
  }
  const size = (await orNull(stat(path)))?.size;
  return size === undefined ? null : { id, totalBytes: size, storedBytes: size, path, sha256: null };
}

/** null as well when the writer was killed in the middle. */
function parseFacts(text: string | null): z.infer<typeof OutputFacts> | null {
  return (text === null ? null : OutputFacts.safeParse(jsonOf(text)).data) ?? null;
}

export async function earlyOutputIds(dir: string): Promise<string[]> {
  const names = (await orNull(readdir(join(dir, OUTPUTS_FOLDER)))) ?? [];
  return [...new Set(names.map((name) => name.replace(/\.json$/, '')).filter(isOutputId))];
}

/** Why the bytes on disk are not those that were kept; null: they are. */
async function verifyOutput({ id, path, storedBytes, sha256 }: StoredOutput): Promise<string | null> {
  if (path === null) return null;
  const size = (await orNull(stat(path)))?.size;
  if (size === undefined) return `output ${id} is gone`;
  if (size !== storedBytes) return `output ${id} has ${size} bytes, not the ${storedBytes} that were kept`;
  if (sha256 === null || (await digestOf(path)) === sha256) return null;
  return `output ${id} was changed: its bytes have another SHA-256 than those that were kept`;
}

/** Hex sha-256 of a file. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk);
  return hash.digest('hex');
}

/** Every output of a thread whose bytes are not those that were kept, in words. */
export async function* checkOutputs(dir: string, notes: ReadonlyMap<string, OutputNote>): AsyncGenerator<string> {
  /** One content may stand for many outputs. */
  const good = new Set<string>();
  for (const id of [...notes.keys(), ...(await earlyOutputIds(dir)).filter((one) => !notes.has(one))]) {
    const output = await findOutput(dir, notes, id);
    if (output === null || output.path === null || good.has(output.path)) continue;
    const fault = await verifyOutput(output);
    if (fault === null) good.add(output.path);
    else yield fault;
  }
}

/** Reads what is on disk, as far as it was kept. */
export async function readRange(
  path: string,
  range: { offset: number; limit: number; storedBytes: number },
): Promise<Buffer> {
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

/** Reads outputs of a thread, by the notes so far. What was verified once is not hashed again for each part that is read. */
export function createOutputReader({ dir, notes }: { dir: string; notes: ReadonlyMap<string, OutputNote> }) {
  const verified = new Set<string>();
  return async (id: string, range: { offset: number; limit: number }): Promise<OutputReading | null> => {
    const output = await findOutput(dir, notes, id);
    if (output === null) return null;
    const { path, totalBytes, storedBytes } = output;
    if (path === null) return { bytes: Buffer.alloc(0), totalBytes, storedBytes };
    const facts = await orNull(stat(path, { bigint: true }));
    const state = facts === null ? null : `${id} ${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`;
    if (state === null || !verified.has(state)) {
      const fault = await verifyOutput(output);
      if (fault !== null) return { fault };
      if (state !== null) verified.add(state);
    }
    return { bytes: await readRange(path, { ...range, storedBytes }), totalBytes, storedBytes };
  };
}
