import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, hasCode, UsageError } from '../errors.ts';
import { JobRecord, jsonOf, readJsonLines, toJson } from '../events/index.ts';
import { isDone } from './worst-exit.ts';

/** A result is at most an event's line; a record holds little more. */
const MOST_LINE_BYTES = 8 * 1024 * 1024;

export interface RecordStoreOptions {
  /** The state folder. */
  stateDir: string;
  /** `--results`; null where there is none. */
  file: string | null;
  /** Digests of this batch: lines about anything else do not stay in the file. */
  digests: ReadonlySet<string>;
  /** Stamped on what is known already: the same job may have been done in a batch with other jobs beside it, or in another shard. */
  about: Pick<JobRecord, 'batch' | 'shard'>;
}

/** What is known of jobs from earlier runs of the batch: by digest in the state folder, and in the file of `--results`. */
export interface RecordStore {
  /** The record of a job that is over; null when it has to be done. */
  find(digest: string): Promise<JobRecord | null>;
  /** On disk when it resolves. A job that is not over goes to the file alone. */
  put(record: JobRecord): Promise<void>;
  close(): Promise<void>;
}

/** Throws UsageError when the file holds something else: it is not overwritten. */
export async function openRecords({ stateDir, file, digests, about }: RecordStoreOptions): Promise<RecordStore> {
  const folder = join(stateDir, 'batch', 'records');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = new Map<string, JobRecord>();
  if (file !== null) {
    for (const record of await readResults(file)) {
      if (record.digest !== undefined && digests.has(record.digest) && isDone(record))
        kept.set(record.digest, { ...record, ...about });
    }
  }
  const lines = file === null ? null : await openLines(file, [...kept.values()]);
  const written = new Set(kept.keys());
  const pathOf = (digest: string) => join(folder, `${digest}.json`);
  return {
    async find(digest) {
      const known = kept.get(digest) ?? (await readRecord(pathOf(digest), digest));
      return known === null ? null : { ...known, ...about };
    },
    async put(record) {
      const { digest } = record;
      if (digest !== undefined && isDone(record)) await writeWhole(pathOf(digest), `${toJson(record)}\n`);
      if (lines === null || (digest !== undefined && written.has(digest))) return;
      if (digest !== undefined) written.add(digest);
      await lines.appendFile(`${toJson(record)}\n`);
      await syncFile(lines);
    },
    async close() {
      await lines?.close();
    },
  };
}

/** Whole lines of an earlier run; one that a kill cut off is dropped. */
async function readResults(file: string): Promise<JobRecord[]> {
  const records: JobRecord[] = [];
  if (!(await isThere(file))) return records;
  for await (const line of readJsonLines(file, { maxLineBytes: MOST_LINE_BYTES })) {
    if (line.kind === 'fault' && line.reason === 'torn') continue;
    const parsed = line.kind === 'line' ? JobRecord.safeParse(line.value) : null;
    if (!parsed?.success)
      throw new UsageError(`--results ${file}:${line.lineNumber} is no result of a batch: name another file`);
    records.push(parsed.data);
  }
  return records;
}

/** The file with the records that stay, open for more. It is replaced as a whole: a kill leaves the old one or the new one. */
async function openLines(file: string, records: readonly JobRecord[]): Promise<FileHandle> {
  try {
    await writeWhole(file, records.map((record) => `${toJson(record)}\n`).join(''));
    return await open(file, 'a', 0o644);
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    throw new UsageError(`--results: cannot write ${file} (${code})`, { cause: error });
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  const next = join(dirname(path), `.${randomBytes(6).toString('hex')}.new`);
  try {
    const handle = await open(next, 'wx', 0o644);
    try {
      await handle.writeFile(text);
      await syncFile(handle);
    } finally {
      await handle.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/** Some file systems and devices have nothing to sync. */
async function syncFile(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, 'EINVAL', 'ENOTSUP')) throw error;
  }
}

async function readRecord(path: string, digest: string): Promise<JobRecord | null> {
  try {
    const parsed = JobRecord.safeParse(jsonOf(await readFile(path, 'utf8')));
    // A record of another version of belay: the job is done again.
    return parsed.success && parsed.data.digest === digest && isDone(parsed.data) ? parsed.data : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw new UsageError(`--results: cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
