import { spawn } from 'node:child_process';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { isStray, MOST_TRIES } from './git.ts';
import { removeEntry } from './place-file.ts';
import { ancestors } from './text-path.ts';

export interface CarryCapture {
  /** The workspace's root. */
  from: string;
  /** A folder of ours; made when missing. */
  to: string;
  /** Relative to `from`. A path that is not there, or lies behind a link, is left out. */
  paths: readonly string[];
}

/** Copies what setup left (by reflink where the file system can), before the agent can touch it. Returns what was copied. */
export const captureCarry = async ({ from, to, paths }: CarryCapture): Promise<readonly string[]> => {
  await mkdir(to, { recursive: true });
  const captured: string[] = [];
  const byFolder = new Map<string, string[]>();
  for (const named of paths) {
    const path = named.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
    if (isAbsolute(path) || path === '' || path.split('/').includes('..')) {
      throw new UsageError(`cannot carry ${JSON.stringify(named)}: it is not a path below the repository's root`, {
        code: 'carry',
      });
    }
    if (captured.some((one) => one === path) || !(await isPlainlyThere(from, path))) continue;
    captured.push(path);
    byFolder.set(dirname(path), [...(byFolder.get(dirname(path)) ?? []), join(from, path)]);
  }
  for (const [folder, sources] of byFolder) {
    await mkdir(join(to, folder), { recursive: true });
    await copyEntries(sources, join(to, folder));
  }
  return captured;
};

/** Lays what was captured into a tree that was checked out. What is in its place there goes; no link is followed. */
export const layCarry = async ({ from, to }: { from: string; to: string }): Promise<void> => {
  const whole: string[] = [];
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    const there = await kindOf(target);
    if (entry.isDirectory() && there === 'folder') {
      await layCarry({ from: join(from, entry.name), to: target });
      continue;
    }
    if (there !== null) await removeEntry(target);
    whole.push(join(from, entry.name));
  }
  await copyEntries(whole, to);
};

const kindOf = async (path: string): Promise<'folder' | 'other' | null> => {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
};

const isPlainlyThere = async (root: string, path: string): Promise<boolean> => {
  for (const folder of ancestors(path)) if ((await kindOf(join(root, folder))) !== 'folder') return false;
  return (await kindOf(join(root, path))) !== null;
};

/** Bytes of arguments in one call: far below what systems allow (128 KiB an argument, 2 MiB in all on Linux). */
const MAX_ARGUMENT_BYTES = 100_000;

/** A copier of its own: 50,000 files of `node_modules` are slow through `fs.cp`. `-a` keeps links, modes, times and holes. */
export const copyEntries = async (sources: readonly string[], folder: string): Promise<void> => {
  let batch: string[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await runCopy([...batch, folder]);
    batch = [];
    bytes = 0;
  };
  for (const source of sources) {
    batch.push(source);
    bytes += Buffer.byteLength(source) + 1;
    if (bytes > MAX_ARGUMENT_BYTES) await flush();
  }
  await flush();
};

/** A copy of a folder with all in it, pipes and sockets and names of any bytes included. */
export const copyFolder = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o755 });
  await copyEntries([`${from}/.`], to);
};

const STDERR_BYTES = 4096;

const runCopy = (operands: readonly string[], tries = 1): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = process.platform === 'linux' ? ['-a', '--reflink=auto'] : ['-a'];
    // System folders alone: the harness's PATH may name folders that the agent writes.
    const env = { PATH: '/usr/bin:/bin:/run/current-system/sw/bin', LC_ALL: 'C' };
    // As git: a Ctrl-C is for belay.
    const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
    const child = spawn('cp', [...options, '--', ...operands], { env, stdio, detached: true });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (stderr.length < STDERR_BYTES) stderr += chunk.toString('utf8');
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else if (isStray(signal) && tries < MOST_TRIES) resolve(runCopy(operands, tries + 1));
      else
        reject(
          new UsageError(`cannot copy what setup left: ${stderr.trim().slice(0, STDERR_BYTES)}`, {
            code: 'carry',
          }),
        );
    });
  });
