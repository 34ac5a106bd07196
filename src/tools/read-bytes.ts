import { constants, type Stats } from 'node:fs';
import { codeOf } from '../errors.ts';
import { openVerified, PathMovedError } from './open-verified.ts';
import type { SafePath } from './safe-path.ts';

/** Files that are edited are held in memory, some times over. */
export const MAX_EDIT_BYTES = 16 * 1024 * 1024;

export type FileBytes = { kind: 'read'; bytes: Buffer; stat: Stats } | { kind: 'failed'; reason: string };

/** The whole of a regular file of at most `MAX_EDIT_BYTES`. */
export async function readBytes(file: SafePath): Promise<FileBytes> {
  const failed = (reason: string): FileBytes => ({ kind: 'failed', reason: `${file.relative} ${reason}` });
  if (file.stat === null) return failed('does not exist');
  if (file.stat.isDirectory()) return failed('is a folder');
  if (!file.stat.isFile()) return failed('is not a regular file');
  try {
    const { handle } = await openVerified(file.absolute, constants.O_RDONLY);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return failed('is not a regular file');
      if (stat.size > MAX_EDIT_BYTES)
        return failed(`is too large to edit (${stat.size} bytes, at most ${MAX_EDIT_BYTES})`);
      const bytes = Buffer.alloc(stat.size);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return { kind: 'read', bytes: bytes.subarray(0, length), stat };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PathMovedError) return failed('was moved while it was read');
    const code = codeOf(error);
    if (code === null) throw error;
    return failed(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}
