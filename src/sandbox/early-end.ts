import type { Writable } from 'node:stream';

/** A program may end before it has read all that is written to it; how it ended tells. */
export function overlookEarlyEnd(stdin: Writable): void {
  stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
  });
}
