import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { codeOf, hasCode } from '../errors.ts';

/**
 * Who holds a lock, told so that the holder can be found again. On Linux exact: a process id is reused, but not with the same start
 * time in the same boot and process namespace. Elsewhere these are null and only the process id is compared.
 */
export interface ProcessIdentity {
  pid: number;
  host: string;
  /** The kernel's id of this boot. */
  boot: string | null;
  /** The process namespace: ids of another container mean nothing here. */
  namespace: string | null;
  /** Start of the process in clock ticks since the boot. */
  started: string | null;
}

export async function identifySelf(): Promise<ProcessIdentity> {
  const [boot, namespace, started] = await Promise.all([
    orNull(readFile('/proc/sys/kernel/random/boot_id', 'utf8')),
    orNull(readlink('/proc/self/ns/pid')),
    startOf(process.pid),
  ]);
  return { pid: process.pid, host: hostname(), boot: boot?.trim() ?? null, namespace, started };
}

/** `unknown`: it runs where this process cannot look (another host or container). */
export async function findProcess(
  other: ProcessIdentity,
  self: ProcessIdentity,
): Promise<'alive' | 'gone' | 'unknown'> {
  if (other.boot !== self.boot) return other.host === self.host ? 'gone' : 'unknown';
  if (other.namespace !== self.namespace || (self.boot === null && other.host !== self.host)) return 'unknown';
  if (!exists(other.pid)) return 'gone';
  if (other.started === null || self.started === null) return 'alive';
  return (await startOf(other.pid)) === other.started ? 'alive' : 'gone';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return hasCode(error, 'EPERM');
  }
}

/** null when there is no such process, it is only waiting for its parent to take note of its end, or the system has no /proc. */
async function startOf(pid: number): Promise<string | null> {
  const stat = await orNull(readFile(`/proc/${pid}/stat`, 'utf8'));
  // The second field is the program's name in brackets, and may itself hold brackets and spaces.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

async function orNull(reading: Promise<string>): Promise<string | null> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
