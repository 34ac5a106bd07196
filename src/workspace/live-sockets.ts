import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { hasCode } from '../errors.ts';

/** Where Linux lists the sockets of this network, each with the path that it was bound to, as its program gave it. */
const LIST = '/proc/net/unix';
/** Number, references, protocol, flags, type, state, inode; then the path. */
const PATH_OF_LINE = /^\S+: (?:\S+ +){6}(\S.*)$/;

/** Whether some program still has a socket at this real path: then it is not what an ended command left. Where nobody can tell, it has. */
export const isLiveSocket = async (path: string): Promise<boolean> => {
  let list: string;
  try {
    list = await readFile(LIST, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return true;
    throw error;
  }
  for (const line of list.split('\n')) {
    const bound = PATH_OF_LINE.exec(line)?.[1];
    if (bound === undefined || bound.startsWith('@') || basename(bound) !== basename(path)) continue;
    // Against which folder, only the program knows.
    if (!isAbsolute(bound) || (await realFolder(bound)) === path) return true;
  }
  return false;
};

/** The path with no link on the way; null where there is no such folder. */
const realFolder = async (path: string): Promise<string | null> => {
  try {
    return join(await realpath(dirname(path)), basename(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
};
