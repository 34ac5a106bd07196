import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { hasCode } from '../errors.ts';
import { findRipgrep, ignoreArguments, runRipgrep } from './ripgrep.ts';
import type { ToolPorts } from './tool.ts';
import { walkFiles } from './walk-files.ts';

export async function isGitRoot(root: string): Promise<boolean> {
  try {
    await lstat(path.join(root, '.git'));
    return true;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return false;
  }
}

export interface FileSearch {
  ports: Pick<ToolPorts, 'root' | 'access'>;
  /** Folder relative to the root, '' for all. */
  base: string;
  /** Gets paths relative to the root, in no order; false ends the search. */
  onFile(path: string): boolean;
}

/** Calls back for every file that is neither ignored by the tree's `.gitignore` files nor hidden by the policy. */
export async function findVisibleFiles({ ports, base, onFile }: FileSearch, signal: AbortSignal): Promise<void> {
  const take = (file: string): boolean => ports.access(file).hidden || onFile(file);
  const program = await findRipgrep(ports.root);
  if (program !== null) {
    const args = ['--files', '--null', ...ignoreArguments(await isGitRoot(ports.root)), '--', `./${base}`];
    const onRecord = (record: string): boolean => take(record.slice(2));
    const run = { program, args, cwd: ports.root, separator: '\0', onRecord } as const;
    if ((await runRipgrep(run, signal)).kind === 'ended') return;
  }
  for await (const file of walkFiles(ports.root, base, signal)) {
    if (!take(file)) return;
  }
}
