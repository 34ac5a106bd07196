import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

const VERSION = '24.22.3';
const PACKAGE = `node-linux-${process.arch}`;
/** Kept between runs: it is some 50 MB to fetch. */
const CACHE = path.join(import.meta.dirname, '../../.cache');

/**
 * A Node whose `fetch` and `http` know proxies, with the folder that it is in: the one that runs the tests, else one from the package
 * registry; null where that cannot be reached.
 */
export function findLaterNode(): { program: string; folder: string } | null {
  if (process.platform !== 'linux') return null;
  if (Number(process.versions.node.split('.')[0]) >= 24)
    return { program: process.execPath, folder: path.dirname(process.execPath) };
  const folder = path.join(CACHE, `${PACKAGE}-${VERSION}`);
  if (!existsSync(folder) && !fetchInto(folder)) return null;
  return { program: path.join(folder, 'package/bin/node'), folder };
}

function fetchInto(folder: string): boolean {
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    const options = ['--pack-destination', making, '--fetch-retries=0', '--fetch-timeout=60000', '--silent'];
    execFileSync('npm', ['pack', `${PACKAGE}@${VERSION}`, ...options], {
      cwd: making,
      stdio: 'ignore',
      timeout: 120_000,
    });
    execFileSync('tar', ['xzf', `${PACKAGE}-${VERSION}.tgz`, 'package/bin/node'], { cwd: making });
    rmSync(path.join(making, `${PACKAGE}-${VERSION}.tgz`));
    renameSync(making, folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (error instanceof Error && ('status' in error || 'code' in error)) return existsSync(folder);
    throw error;
  }
  return true;
}
