import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import * as path from 'node:path';
import { codeOf } from '../errors.ts';
import { isBelow } from './safe-path.ts';

/** Files larger than this are not searched: ripgrep holds a whole line in memory. */
export const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;
const MAX_TIME_MS = 20_000;
const MAX_ERROR_BYTES = 2000;

async function packagedRipgrep(): Promise<string | null> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    // An optional dependency: absent, or without a build for this platform. There are two other ways.
    return null;
  }
}

async function runnable(candidate: string, root: string): Promise<string | null> {
  try {
    const real = await realpath(candidate);
    await access(real, constants.X_OK);
    // A program in the tree under work may be the agent's own making: it must not run outside of the sandbox.
    return isBelow(root, real) ? null : real;
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return null;
  }
}

/** Absolute path of a ripgrep that is not part of the tree under work; null when there is none. */
export async function findRipgrep(root: string, environment = process.env): Promise<string | null> {
  const { PATH = '' } = environment;
  const packaged = await packagedRipgrep();
  const folders = PATH.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const candidates = [...(packaged === null ? [] : [packaged]), ...folders.map((folder) => path.join(folder, 'rg'))];
  for (const candidate of candidates) {
    const found = await runnable(candidate, root);
    if (found !== null) return found;
  }
  return null;
}

export interface RipgrepRun {
  program: string;
  args: readonly string[];
  cwd: string;
  /** Byte that ends a record. */
  separator: '\n' | '\0';
  /** Returns false when enough was seen: ripgrep is ended. */
  onRecord(record: string): boolean;
}

export type RipgrepEnd =
  | { kind: 'ended'; exitCode: number | null; stderr: string; stopped: 'enough' | 'time' | 'cancelled' | null }
  | { kind: 'unavailable' };

/**
 * Runs ripgrep without its configuration and without our environment. It reads untrusted files, so its time is bounded; it
 * never follows links out of the tree.
 */
export function runRipgrep(run: RipgrepRun, signal: AbortSignal): Promise<RipgrepEnd> {
  return new Promise((resolve) => {
    const args = ['--no-config', '--hidden', '--iglob', '!.git', '--no-messages', '--color', 'never', ...run.args];
    const child = spawn(run.program, args, { cwd: run.cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
    let stopped: 'enough' | 'time' | 'cancelled' | null = null;
    let stderr = '';
    let rest = '';
    const stop = (why: 'enough' | 'time' | 'cancelled'): void => {
      stopped ??= why;
      if (child.pid !== undefined) child.kill('SIGKILL');
    };
    const cancel = (): void => stop('cancelled');
    const timer = setTimeout(() => stop('time'), MAX_TIME_MS);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const settle = (end: RipgrepEnd): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      resolve(end);
    };
    child.on('error', () => settle({ kind: 'unavailable' }));
    // It was not started, and has no pipes.
    if (child.pid === undefined) return;
    child.stdout.setEncoding('utf8');
    child.stderr.setEncoding('utf8');
    child.stdout.on('data', (chunk: string) => {
      if (stopped !== null) return;
      const records = (rest + chunk).split(run.separator);
      rest = records.pop() ?? '';
      for (const record of records) {
        if (!run.onRecord(record)) return stop('enough');
      }
    });
    child.stderr.on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(0, MAX_ERROR_BYTES);
    });
    child.on('close', (exitCode) => settle({ kind: 'ended', exitCode, stderr, stopped }));
  });
}

/** Which ignore files count: those of the tree, not those of the person who runs us or of folders above the root. */
export function ignoreArguments(isGit: boolean): readonly string[] {
  const own = ['--no-ignore-global', '--no-ignore-dot'];
  return isGit ? own : [...own, '--no-require-git', '--no-ignore-parent'];
}
