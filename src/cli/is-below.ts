import { isAbsolute, relative, sep } from 'node:path';

/** Whether a path is a folder, or lies in it. Both absolute, and with their links followed: names alone say nothing of where they lead. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
