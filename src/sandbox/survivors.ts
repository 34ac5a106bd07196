import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errors.ts';
import { allProcesses, descendants, groupOf, isRunning, lastProcess, readProc } from './process-tree.ts';

/** Environment name that everything a command starts carries, however it detaches. */
export const SURVIVOR_MARK = 'BELAY_COMMAND_ID';
const SETTLE_MS = 1_500;

/** What tells a command's processes from others. */
export interface CommandTrace {
  /** Id of its first process, which leads a group of its own; 0 where that is not known. */
  group: number;
  /** Value of its marker. */
  id: string;
  /** By `performance.now()`. */
  startedAtMs: number;
  /** Where its first process was set up before the command began: the id that was given last until then. */
  lastIdBefore?: number | undefined;
}

/** Until nothing that the command started runs; what the kernel does not let go of in time is left. */
export async function endSurvivors(command: CommandTrace): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (killSurvivors(command) > 0 && performance.now() < deadline) await delay(5);
}

/** Sends SIGKILL to the command's process group and to all that carries its marker, with their children; returns how many there were. */
export function killSurvivors(command: CommandTrace): number {
  const { group, id } = command;
  if (process.platform !== 'linux') return kill(-group) ? 1 : 0;
  const all = processesSince(command);
  const marked = all.filter((pid) => readProc(pid, 'environ')?.includes(`${SURVIVOR_MARK}=${id}\0`) === true);
  // Reading every process's group is slow, and most commands leave no group behind.
  const grouped = group !== 0 && kill(-group, 0) ? all.filter((pid) => groupOf(pid) === group) : [];
  const own = [...marked, ...grouped];
  const running = [...new Set(own.flatMap(descendants))].filter((pid) => pid !== process.pid && isRunning(pid));
  for (const pid of running) kill(pid);
  return running.length;
}

/** An id comes again only after all others: for 32,768 of them a machine takes longer than this. */
const YOUNG_MS = 250;
/** Looking for more one by one takes as long as a look at the list of all. */
const MOST_IDS = 64;

/** Ids among which the command's are. The kernel gives them in order, so that a short command's are few, known without reading all of /proc. */
function processesSince({ group, startedAtMs, lastIdBefore = group }: CommandTrace): number[] {
  const last = lastProcess();
  const isFew = last !== null && last >= lastIdBefore && last - lastIdBefore < MOST_IDS;
  if (group === 0 || !isFew || performance.now() - startedAtMs > YOUNG_MS) return allProcesses();
  return [group, ...Array.from({ length: last - lastIdBefore }, (_, index) => lastIdBefore + 1 + index)];
}

function kill(pid: number, signal: NodeJS.Signals | 0 = 'SIGKILL'): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH', 'EPERM')) return false;
    throw error;
  }
}
