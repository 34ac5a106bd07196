import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errors.ts';
import { childrenOf, isRunning, stateOf } from './process-tree.ts';

/** Bubblewrap's longest system calls are mounts: milliseconds. */
const STOP_TRIES = 500;

/**
 * Kills bubblewrap and, with the first process of its pid namespace, all that was ever started inside. `--die-with-parent` alone leaves
 * a gap: until the first process has asked for that signal, the death of bubblewrap goes by unseen, and the command runs on. So
 * bubblewrap is stopped first, then its child is known or will never be.
 */
export async function endFence(child: ChildProcess): Promise<void> {
  const { pid } = child;
  // Without an id a signal would go to belay's own process group.
  if (pid === undefined || !child.kill('SIGSTOP')) return;
  for (let tries = 0; tries < STOP_TRIES && isAlive(child) && stateOf(pid) !== 'T'; tries++) await delay(1);
  if (!isAlive(child)) return;
  for (const first of childrenOf(pid)) kill(first);
  child.kill('SIGKILL');
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Also where its end was not told yet. */
export function hasEnded(child: ChildProcess): boolean {
  return !isAlive(child) || child.pid === undefined || !isRunning(child.pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
