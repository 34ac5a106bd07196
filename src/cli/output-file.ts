import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.ts';

/** Refuses an output path early: a run must not end in "no such folder". */
export async function requireParentFolder(option: string, path: string): Promise<void> {
  const folder = dirname(path);
  if (await isFolder(path)) throw new UsageError(`${option}: ${path} is a folder`);
  try {
    if ((await stat(folder)).isDirectory()) return;
  } catch (error) {
    throw new UsageError(`${option}: the folder ${folder} does not exist`, { cause: error });
  }
  throw new UsageError(`${option}: ${folder} is no folder`);
}

/** Refuses two options that name one file: the later one would overwrite the earlier one's. Devices such as /dev/null take both. */
export function refuseSharedFiles(files: Readonly<Record<string, string | null>>): void {
  const owners = new Map<string, string>();
  for (const [option, path] of Object.entries(files)) {
    if (path === null || path.startsWith('/dev/')) continue;
    const other = owners.get(path);
    if (other !== undefined) throw new UsageError(`--${other} and --${option} name the same file: ${path}`);
    owners.set(path, option);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Where a refused run may still write its result: null where it was not asked to, or cannot. */
export async function usableFile(path: string | null, cwd: string): Promise<string | null> {
  if (path === null) return null;
  try {
    await requireParentFolder('--result', resolve(cwd, path));
    return resolve(cwd, path);
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
