import { randomUUID } from 'node:crypto';
import { constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errors.ts';
import { mayAccess } from './may-access.ts';

/** Control groups that a command can be put in; only root has them as a rule. */
export interface CgroupHome {
  /** Folder of the memory controller, and of the pids controller where it is another one (version 1). */
  memory: string | null;
  pids: string | null;
  version: 1 | 2;
}

export interface Cgroup {
  /** Files that take the id of a process to be bounded. */
  procsFiles: readonly string[];
  boundsMemory: boolean;
  /** Whether the kernel ended a process for want of memory. */
  ranOut(): boolean;
  /** For when its processes are gone. */
  remove(): Promise<void>;
}

const ROOT = '/sys/fs/cgroup';

/** Finds a place where this process may make groups; null when there is none, which is the usual case. */
export function findCgroupHome(): CgroupHome | null {
  const own = ownGroups();
  if (existsSync(path.join(ROOT, 'cgroup.controllers'))) {
    const group = own.get('') ?? '/';
    // A group with processes of its own cannot hand on controllers: the sibling place is the usual one.
    const home = [group, path.dirname(group)].map((name) => path.join(ROOT, name)).find((folder) => handsOn(folder));
    return home === undefined ? null : { memory: home, pids: home, version: 2 };
  }
  const [memory, pids] = ['memory', 'pids'].map((name) => {
    const folders = [path.join(ROOT, name, own.get(name) ?? '/'), path.join(ROOT, name)];
    return folders.find((folder) => existsSync(path.join(folder, 'cgroup.procs')) && isWritable(folder)) ?? null;
  });
  return memory == null && pids == null ? null : { memory: memory ?? null, pids: pids ?? null, version: 1 };
}

/** Controller → path of this process's group; '' for version 2. */
function ownGroups(): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    for (const name of match?.[1]?.split(',') ?? []) groups.set(name, match?.[2] ?? '/');
  }
  return groups;
}

function handsOn(folder: string): boolean {
  const file = path.join(folder, 'cgroup.subtree_control');
  // Whoever moves a process between two groups may write the list of the one above both.
  if (!existsSync(file) || !isWritable(folder) || !isWritable(path.join(folder, 'cgroup.procs'))) return false;
  const controllers = readFileSync(file, 'utf8').trim().split(' ');
  return controllers.includes('memory') && controllers.includes('pids');
}

const isWritable = (path: string) => mayAccess(path, constants.W_OK);

export function createCgroup(home: CgroupHome, bounds: { memoryBytes: number; processes: number }): Cgroup {
  const name = `belay-${randomUUID()}`;
  const memory = home.memory === null ? null : path.join(home.memory, name);
  const pids = home.pids === null ? null : path.join(home.pids, name);
  const folders = [...new Set([memory, pids].filter((folder) => folder !== null))];
  for (const folder of folders) mkdirSync(folder);
  const set = (folder: string, file: string, value: string | number): void => {
    // Swap accounting is a kernel option.
    if (existsSync(path.join(folder, file))) writeFileSync(path.join(folder, file), String(value));
  };
  if (memory !== null) {
    if (home.version === 2) {
      set(memory, 'memory.max', bounds.memoryBytes);
      set(memory, 'memory.swap.max', 0);
      set(memory, 'memory.oom.group', 1);
    } else {
      set(memory, 'memory.limit_in_bytes', bounds.memoryBytes);
      set(memory, 'memory.memsw.limit_in_bytes', bounds.memoryBytes);
    }
  }
  // Two more: bubblewrap's own processes are in the group too.
  if (pids !== null) set(pids, 'pids.max', bounds.processes + 2);
  return {
    procsFiles: folders.map((folder) => path.join(folder, 'cgroup.procs')),
    boundsMemory: memory !== null,
    ranOut: () =>
      memory !== null &&
      /^oom_kill [1-9]/m.test(
        readFileSync(path.join(memory, home.version === 2 ? 'memory.events' : 'memory.oom_control'), 'utf8'),
      ),
    remove: async () => {
      for (const folder of folders) await removeGroup(folder);
    },
  };
}

const REMOVE_TRIES = 20;

/** The kernel takes a dead process out of its group a moment after it is gone; an empty group left behind is harmless. */
async function removeGroup(folder: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    try {
      return rmdirSync(folder);
    } catch (error) {
      if (!hasCode(error, 'EBUSY')) throw error;
      await delay(5);
    }
  }
}
