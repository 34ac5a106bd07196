import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { isOutputId } from './output-id.ts';

/** Of the file; a change that this version could not read gets the next number. Files of format 1 have `outputs`, and no blobs. */
export const FILE_FORMAT = 2;

/** First line of the file. Later formats keep these three. */
export const FileHeader = z.object({
  belay_thread_file: z.int().min(1),
  belay_version: z.string().max(100),
  thread_id: z.string().max(100),
});
export type FileHeader = z.infer<typeof FileHeader>;

/** Before each entry: its bytes follow, to the byte. */
export const EntryHeader = z.strictObject({ name: z.string().max(200), size: z.int().min(0) });
/** Last line. `sha256`: hex, of all that is before it. */
export const FileEnd = z.strictObject({ entries: z.int().min(0), sha256: z.string() });

/**
 * What a file may hold, by name: whatever else an entry is called, it is refused, so that no name ever leads out of the thread's folder.
 * `pack` and the start's facts of the snapshots are laid in place by the workspace.
 */
const NAMES: readonly RegExp[] = [
  /^(meta\.json|events\.jsonl|notes\.jsonl)$/,
  /^blobs\/sha256\/[0-9a-f]{64}$/,
  /^artifacts\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
  /^snapshots\/(start\.json|attributes|objects\.pack)$/,
];
/** Beside the log: what the workspace makes snapshots of. */
export const SNAPSHOT_ENTRIES = {
  start: 'snapshots/start.json',
  attributes: 'snapshots/attributes',
  pack: 'snapshots/objects.pack',
} as const;
/** What a thread of format 1 kept: an output, and its facts. */
const EARLY_OUTPUT = /^outputs\/(\w+)(?:\.json)?$/;

export const isEntryName = (name: string) =>
  NAMES.some((pattern) => pattern.test(name)) || isOutputId(EARLY_OUTPUT.exec(name)?.[1] ?? '');

export interface FileEntry {
  name: string;
  /** Where its bytes are; they do not change meanwhile. */
  path: string;
}

/**
 * Writes a thread as one file: gzip of a header line, entries (a line with name and size, then the bytes) and a last line with a digest.
 * Atomic; for its owner alone.
 */
export async function writeThreadFile(path: string, header: FileHeader, entries: readonly FileEntry[]): Promise<void> {
  const { createGzip } = await import('node:zlib');
  const draft = `${path}.${process.pid}.part`;
  try {
    await pipeline(
      renderFile(header, entries),
      createGzip({ level: 6 }),
      createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true }),
    );
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function* renderFile(header: FileHeader, entries: readonly FileEntry[]): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const hashed = (chunk: Buffer) => {
    hash.update(chunk);
    return chunk;
  };
  yield hashed(lineOf(header));
  for (const { name, path } of entries) {
    if (!isEntryName(name)) throw new Error(`bug: ${JSON.stringify(name)} is no name for an entry`);
    const { size } = await stat(path);
    yield hashed(lineOf({ name, size }));
    if (size > 0) for await (const chunk of createReadStream(path, { end: size - 1 })) yield hashed(chunk);
  }
  yield lineOf({ entries: entries.length, sha256: hash.digest('hex') });
}

const lineOf = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);
