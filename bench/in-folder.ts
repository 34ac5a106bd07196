import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one measure: its real path. */
export async function inFolder<T>(act: (root: string) => T | Promise<T>): Promise<T> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-bench-')));
  try {
    return await act(root);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Makes a repository of a folder, with all that is in it as its one commit. No garbage is collected beside the measure. */
export function commitAll(dir: string): void {
  const settings = ['-c', 'gc.auto=0', '-c', 'user.name=b', '-c', 'user.email=b@localhost'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-q', '--allow-empty', '-m', 'base'],
  ])
    execFileSync('git', [...settings, ...args], { cwd: dir });
}
