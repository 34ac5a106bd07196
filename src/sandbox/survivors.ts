import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { allProcesses, descendants, groupOf, isRunning, readProc } from './process-tree.ts';

/** Environment name that everything a command starts carries, however it detaches. */
export const SURVIVOR_MARK = 'BELAY_COMMAND_ID';
const SETTLE_MS = 1_500;

/** Until nothing that the command started runs; what the kernel does not let go of in time is left. */
export async function endSurvivors(group: number, id: string): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (killSurvivors(group, id) > 0 && performance.now() < deadline) await delay(5);
}

/** Sends SIGKILL to the command's process group and to all that carries its marker, with their children; returns how many there were. */
export function killSurvivors(group: number, id: string): number {
  if (process.platform !== 'linux') return kill(-group) ? 1 : 0;
  const all = allProcesses();
  const marked = all.filter((pid) => readProc(pid, 'environ')?.includes(`${SURVIVOR_MARK}=${id}\0`) === true);
  // Reading every process's group is slow, and most commands leave no group behind.
  const grouped = kill(-group, 0) ? all.filter((pid) => groupOf(pid) === group) : [];
  const own = [...marked, ...grouped];
  const running = [...new Set(own.flatMap(descendants))].filter((pid) => pid !== process.pid && isRunning(pid));
  for (const pid of running) kill(pid);
  return running.length;
}

function kill(pid: number, signal: NodeJS.Signals | 0 = 'SIGKILL'): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')) return false;
    throw error;
  }
}
