import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';

/** `ENOENT`, `ESRCH`, `EACCES`: the process is gone, or another user's. */
export function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}

/** Alive and not a zombie. */
export function isRunning(pid: number): boolean {
  const state = stateOf(pid);
  return state !== null && state !== 'Z' && state !== 'X';
}

/** One letter, as in proc(5); null when it is gone. */
export function stateOf(pid: number): string | null {
  return statFields(pid)?.[0] ?? null;
}

/** Of the kernel's own, which have no environment, that is `KERNEL_THREADS`. */
export function parentOf(pid: number): number | null {
  const parent = statFields(pid)?.[1];
  return parent === undefined ? null : Number(parent);
}

export const KERNEL_THREADS = 2;

export function groupOf(pid: number): number | null {
  const group = statFields(pid)?.[2];
  return group === undefined ? null : Number(group);
}

/** State, parent, group, …: what follows the program's name, which may hold anything. */
function statFields(pid: number): string[] | null {
  const stat = readProc(pid, 'stat');
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The process and everything below it, by /proc/PID/task/TID/children: the whole of a pid namespace for its first process. */
export function descendants(pid: number): number[] {
  const found = [pid];
  for (let index = 0; index < found.length; index++) {
    const parent = found[index];
    if (parent !== undefined) found.push(...childrenOf(parent));
  }
  return found;
}

/** Of the text of /proc/PID/status. */
export function threadsOf(status: string): number {
  return Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}

export function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (codeOf(error) !== null) return [];
    throw error;
  }
  return threads.flatMap((thread) =>
    (readProc(pid, `task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

export function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Id that was given last in this pid namespace; null where the kernel does not say. */
export function lastProcess(): number | null {
  try {
    return Number(readFileSync('/proc/sys/kernel/ns_last_pid', 'latin1'));
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}

/** How many threads a user has, as the kernel counts them against `ulimit -u`. */
export function tasksOf(uid: number): number {
  let count = 0;
  for (const pid of allProcesses()) {
    const status = readProc(pid, 'status') ?? '';
    const owner = /^Uid:\s+(\d+)/m.exec(status)?.[1];
    if (owner === String(uid)) count += threadsOf(status);
  }
  return count;
}
