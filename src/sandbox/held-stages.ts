import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import { hasEnded } from './end-fence.ts';
import { isLimited } from './limit-dumps.ts';

/**
 * Mount namespaces that a command's launcher staged, kept for the commands after it whose sources are the same: entering one takes a
 * small part of the time that staging takes. Each is held by a descriptor of belay's alone, so it goes with belay, however that ends.
 */
export interface HeldStages {
  /** Descriptor of the namespace in which the sources of this key are staged, to be passed to a child at once; null where there is none. */
  find(key: string): number | null;
  /** `child` is in a namespace in which the sources of this key are staged. */
  keep(key: string, child: ChildProcess): void;
  /** After this none is kept any more. */
  close(): void;
}

/** A run goes back and forth between the agent's sources and those of a check or two; each namespace keeps what it shows from going. */
const MOST = 3;

export function createHeldStages(): HeldStages {
  /** In the order of use, the latest last. */
  const held = new Map<string, number>();
  let isClosed = false;
  const letGo = (key: string, fd: number): void => {
    held.delete(key);
    closeSync(fd);
  };
  return {
    find(key) {
      const fd = held.get(key);
      if (fd === undefined) return null;
      held.delete(key);
      held.set(key, fd);
      return fd;
    },
    keep(key, child) {
      if (isClosed || held.has(key) || child.pid === undefined || hasEnded(child)) return;
      // What enters a stage sets no limit: belay's own has to be there to be taken over.
      if (!isLimited()) return;
      const fd = openNamespace(child.pid);
      if (fd === null) return;
      held.set(key, fd);
      const [oldest] = held;
      if (held.size > MOST && oldest !== undefined) letGo(...oldest);
    },
    close() {
      isClosed = true;
      for (const [key, fd] of held) letGo(key, fd);
    },
  };
}

/** Null where it has ended meanwhile, or where this root may not look into other processes: then every command stages by itself. */
function openNamespace(pid: number): number | null {
  try {
    return openSync(`/proc/${pid}/ns/mnt`, 'r');
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
