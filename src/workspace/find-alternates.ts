import { readFile, realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { hasCode } from '../errors.ts';

/** As deep as git goes. */
const MOST_DEPTH = 5;

/**
 * Object folders that `objects/info/alternates` names, and those that they name. Only folders called `objects` count, as every one of
 * git's own is: whoever can write a git directory must not have any other folder shown.
 */
export async function findAlternates(objects: string, depth = 0): Promise<string[]> {
  const found: string[] = [];
  for (const line of (await readIfThere(join(objects, 'info/alternates'))).split('\n')) {
    if (line === '' || line.startsWith('#') || depth >= MOST_DEPTH) continue;
    const folder = await realFolder(resolve(objects, line.startsWith('"') ? unquote(line) : line));
    if (folder === null || basename(folder) !== 'objects' || found.includes(folder)) continue;
    found.push(folder, ...(await findAlternates(folder, depth + 1)));
  }
  return [...new Set(found)];
}

function unquote(line: string): string {
  try {
    return String(JSON.parse(line));
  } catch (error) {
    // git's own quoting knows octal escapes, which JSON does not: such a folder is not shown.
    if (error instanceof SyntaxError) return line;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return '';
    throw error;
  }
}

async function realFolder(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
}
