import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type * as z from 'zod';
import { codeOf, UsageError } from '../errors.ts';
import { jsonOf, oneLine } from '../events/index.ts';
import { EntryHeader, FILE_FORMAT, FileEnd, FileHeader, isEntryName } from './thread-file.ts';

export interface ThreadFileReading {
  path: string;
  /** Bytes of all entries together: a few bytes of gzip can stand for a disk full of zeros. */
  maxBytes: number;
  /** Given the header before anything is written; returns where an entry goes. */
  place(header: FileHeader): Promise<(name: string) => string>;
}

const MOST_ENTRIES = 100_000;
const MOST_LINE_BYTES = 4096;

/** Lays the entries of a file of unknown origin out. Throws UsageError for one that is not whole, or not what it says. */
export async function readThreadFile({ path, maxBytes, place }: ThreadFileReading): Promise<FileHeader> {
  const broken = (why: string, cause?: unknown) =>
    new UsageError(`${path} is no thread that can be imported: ${why}`, { code: 'thread_file', cause });
  const source = await createByteSource(path);
  const lineAs = async <T>(schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse(jsonOf(await source.line()));
    if (!parsed.success) throw broken('a line of it is not as it should be');
    return parsed.data;
  };
  try {
    const header = await lineAs(FileHeader);
    if (header.belay_thread_file > FILE_FORMAT)
      throw broken(
        `it has format ${header.belay_thread_file}, written by belay ${oneLine(header.belay_version)}; import it with that version or a later one (this one reads formats 1 to ${FILE_FORMAT})`,
      );
    const pathOf = await place(header);
    const names = new Set<string>();
    let bytes = 0;
    for (;;) {
      const digest = source.digest();
      const value = jsonOf(await source.line());
      const end = FileEnd.safeParse(value);
      if (end.success) {
        if (end.data.sha256 !== digest || end.data.entries !== names.size)
          throw broken('its digest is not that of its contents');
        if (await source.hasMore()) throw broken('it goes on behind its end');
        return header;
      }
      const entry = EntryHeader.safeParse(value);
      if (!entry.success) throw broken('a line of it is not as it should be');
      const { name, size } = entry.data;
      if (!isEntryName(name) || names.has(name)) throw broken(`it holds ${JSON.stringify(name)}`);
      names.add(name);
      bytes += size;
      if (bytes > maxBytes || names.size > MOST_ENTRIES)
        throw broken(`it holds more than ${maxBytes} bytes; --max-size takes more`);
      await writeEntry(pathOf(name), source, size);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof ShortFile) throw broken('it is cut off', error);
    if (codeOf(error)?.startsWith('Z_')) throw broken('it is not gzip, or damaged', error);
    throw error;
  } finally {
    await source.close();
  }
}

async function writeEntry(path: string, source: ByteSource, size: number): Promise<void> {
  const handle: FileHandle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of source.take(size)) await handle.appendFile(chunk);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

class ShortFile extends Error {}

type ByteSource = Awaited<ReturnType<typeof createByteSource>>;

/** The unpacked bytes, taken in order; every byte taken counts for the digest. */
async function createByteSource(path: string) {
  const { createGunzip } = await import('node:zlib');
  const file = createReadStream(path);
  const unzipped = createGunzip();
  file.on('error', (error) => unzipped.destroy(error));
  const chunks = file.pipe(unzipped)[Symbol.asyncIterator]();
  const hash = createHash('sha256');
  let rest: Buffer = Buffer.alloc(0);

  async function fill(): Promise<boolean> {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return false;
      rest = next.value;
    }
    return true;
  }

  function cut(length: number): Buffer {
    const taken = rest.subarray(0, length);
    rest = rest.subarray(length);
    hash.update(taken);
    return taken;
  }

  return {
    async line(): Promise<string> {
      const parts: Buffer[] = [];
      let length = 0;
      for (;;) {
        if (!(await fill())) throw new ShortFile('no line');
        const end = rest.indexOf(0x0a);
        const part = cut(end === -1 ? rest.length : end + 1);
        parts.push(part);
        length += part.length;
        if (length > MOST_LINE_BYTES) return '';
        if (end !== -1) return Buffer.concat(parts).toString('utf8');
      }
    },
    async *take(size: number): AsyncGenerator<Buffer> {
      for (let left = size; left > 0; ) {
        if (!(await fill())) throw new ShortFile('no bytes');
        const part = cut(Math.min(left, rest.length));
        left -= part.length;
        yield part;
      }
    },
    hasMore: fill,
    /** Hex sha-256 of what was taken so far. */
    digest: () => hash.copy().digest('hex'),
    async close(): Promise<void> {
      unzipped.destroy();
      file.destroy();
    },
  };
}
