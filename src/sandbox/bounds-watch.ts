import { type Bounds, diskDetail, memoryDetail, outputDetail, processesDetail } from './bounds.ts';
import { watchDisk } from './disk-watch.ts';
import { descendants, readProc, threadsOf } from './process-tree.ts';

const LONGEST_MS = 250;
const SHORTEST_MS = 20;
/** The walk may take this part of the time, whatever the number of processes. */
const SHARE = 20;
/** What a command can take in a millisecond at the most: how soon it could be over the bound. */
const BYTES_A_MS = 4 * 1024 * 1024;
/** Looks in a row at the bound of processes: a build that is there for a moment goes on. */
const FULL_LOOKS = 8;
/** The launcher's own processes, and those that end between two counts. */
const SLACK = 3;

export interface WatchOptions {
  bounds: Bounds;
  /** Folders of the host that the command may write. */
  folders: readonly string[];
  /** Bytes that it has printed. */
  printed(): number;
  /** A control group holds memory already. */
  boundsMemory: boolean;
}

/**
 * Calls `onExceeded` once, with a sentence, when the process and all below it hold, count, print or write more than they may. Memory:
 * private memory of each, and the largest shared mapping once (a sum would count it for every process that shares it).
 */
export function watchBounds(pid: number, options: WatchOptions, onExceeded: (detail: string) => void): () => void {
  const { bounds, boundsMemory } = options;
  const disk = watchDisk(options.folders, bounds.diskBytes);
  let fullLooks = 0;
  let timer: NodeJS.Timeout;
  const fault = (used: Used): string | null => {
    fullLooks = used.threads >= bounds.processes - SLACK ? fullLooks + 1 : 0;
    if (!boundsMemory && used.memoryBytes > bounds.memoryBytes) return memoryDetail(bounds);
    if (used.threads > bounds.processes + SLACK || fullLooks >= FULL_LOOKS) return processesDetail(bounds);
    if (options.printed() > bounds.outputBytes) return outputDetail(bounds);
    return disk.isExceeded(used.pids) ? diskDetail(bounds) : null;
  };
  const look = (): void => {
    const startedAt = performance.now();
    const used = usedBy(pid);
    const detail = fault(used);
    if (detail !== null) {
      onExceeded(detail);
      return;
    }
    const soonest = (bounds.memoryBytes - used.memoryBytes) / BYTES_A_MS;
    const wait = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, soonest));
    timer = setTimeout(look, Math.max(wait, (performance.now() - startedAt) * SHARE)).unref();
  };
  timer = setTimeout(look, Math.min(LONGEST_MS, Math.max(SHORTEST_MS, bounds.memoryBytes / BYTES_A_MS))).unref();
  return () => clearTimeout(timer);
}

interface Used {
  pids: readonly number[];
  memoryBytes: number;
  threads: number;
}

function usedBy(pid: number): Used {
  const pids = descendants(pid);
  let privateKib = 0;
  let sharedKib = 0;
  let threads = 0;
  for (const id of pids) {
    const status = readProc(id, 'status') ?? '';
    privateKib += kib(status, 'RssAnon');
    sharedKib = Math.max(sharedKib, kib(status, 'RssShmem'));
    threads += threadsOf(status);
  }
  return { pids, memoryBytes: (privateKib + sharedKib) * 1024, threads };
}

function kib(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}
