import { constants as fs } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { codeOf, hasCode } from '../errors.ts';

/** Names a file without opening it, on Linux; Node has no name for it. */
const O_PATH = 0x200000;
const PATIENCE_MS = 1000;

/**
 * Whether some program may still answer at this socket, by whatever name it made it: then it is not what an ended command left. Only a
 * refused connection says that none does. Elsewhere than on Linux nobody can tell.
 */
export const isLiveSocket = async (path: Buffer): Promise<boolean> => {
  if (process.platform !== 'linux') return true;
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, O_PATH | fs.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) !== null) return true;
    throw error;
  }
  try {
    // Addresses of sockets have at most 107 bytes, and Node takes text alone.
    return !(await isRefused(`/proc/self/fd/${handle.fd}`));
  } finally {
    await handle.close();
  }
};

const isRefused = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(address);
    const timer = setTimeout(() => finish(false), PATIENCE_MS);
    const finish = (refused: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(refused);
    };
    socket.on('connect', () => finish(false));
    socket.on('error', (error) => finish(hasCode(error, 'ECONNREFUSED')));
  });
