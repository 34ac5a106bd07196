import { constants as fs } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from '../errors.ts';

const BLOCK_BYTES = 65_536;

/** What is swapped for a pipe or a link meanwhile neither holds us up nor leads elsewhere. */
const HOW = fs.O_RDONLY | fs.O_NONBLOCK | fs.O_NOFOLLOW;

/** Whether two files have the same contents; one that cannot be read, or is no file, has others. */
export const holdsSame = async (a: string, b: string): Promise<boolean> => {
  const handles = [];
  try {
    for (const path of [a, b]) handles.push(await open(path, HOW));
    for (const handle of handles) if (!(await handle.stat()).isFile()) return false;
    const blocks = handles.map(() => Buffer.alloc(BLOCK_BYTES));
    for (;;) {
      const read = await Promise.all(
        handles.map(async (handle, i) => {
          const block = blocks[i] ?? Buffer.alloc(0);
          const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, null);
          return block.subarray(0, bytesRead);
        }),
      );
      const [left = Buffer.alloc(0), right = Buffer.alloc(0)] = read;
      if (!left.equals(right)) return false;
      if (left.length === 0) return true;
    }
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO')) return false;
    throw error;
  } finally {
    for (const handle of handles) await handle.close();
  }
};
