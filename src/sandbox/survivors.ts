import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errors.ts';
import {
  allProcesses,
  descendants,
  groupOf,
  isRunning,
  KERNEL_THREADS,
  lastProcess,
  parentOf,
  readProc,
} from './process-tree.ts';

/** Environment name that everything a command starts carries, however it detaches. */
export const SURVIVOR_MARK = 'BELAY_COMMAND_ID';
const SETTLE_MS = 1_500;
/** Looks that are added for such a process: some have no environment for ever. */
const MOST_UNSETTLED = 4;

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
  for (let looks = 1; performance.now() < deadline; looks++) {
    const { killed, unsettled } = lookFor(command);
    if (killed === 0 && (!unsettled || looks > MOST_UNSETTLED)) return;
    await delay(5);
  }
}

/** Sends SIGKILL to the command's process group and to all that carries its marker, with their children; returns how many there were. */
export function killSurvivors(command: CommandTrace): number {
  return lookFor(command).killed;
}

interface Look {
  killed: number;
  /** A younger process than the command's first was about to become another program: the kernel shows no environment of it then. */
  unsettled: boolean;
}

function lookFor(command: CommandTrace): Look {
  const { group, id } = command;
  if (process.platform !== 'linux') return { killed: kill(-group) ? 1 : 0, unsettled: false };
  const all = processesSince(command);
  let unsettled = false;
  const marked = all.filter((pid) => {
    const environment = readProc(pid, 'environ');
    if (environment === '' && group !== 0 && pid > group && parentOf(pid) !== KERNEL_THREADS)
      unsettled ||= isRunning(pid);
    return environment?.includes(`${SURVIVOR_MARK}=${id}\0`) === true;
  });
  // Reading every process's group is slow, and most commands leave no group behind.
  const grouped = group !== 0 && kill(-group, 0) ? all.filter((pid) => groupOf(pid) === group) : [];
  const own = [...marked, ...grouped];
  const running = [...new Set(own.flatMap(descendants))].filter((pid) => pid !== process.pid && isRunning(pid));
  for (const pid of running) kill(pid);
  return { killed: running.length, unsettled };
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
