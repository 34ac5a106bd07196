import { performance } from 'node:perf_hooks';
import { descendants, readProc } from './process-tree.ts';

const INTERVAL_MS = 250;
/** The walk may take this part of the time, whatever the number of processes. */
const SHARE = 20;

/**
 * Calls `onExceeded` once when the process and all below it hold more than `maxBytes`. What it counts: private memory of each, and
 * the largest shared mapping once (a sum would count it for every process that shares it).
 */
export function watchMemory(pid: number, maxBytes: number, onExceeded: () => void): () => void {
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const startedAt = performance.now();
    if (memoryOf(pid) > maxBytes) {
      onExceeded();
      return;
    }
    timer = setTimeout(look, Math.max(INTERVAL_MS, (performance.now() - startedAt) * SHARE)).unref();
  };
  timer = setTimeout(look, INTERVAL_MS).unref();
  return () => clearTimeout(timer);
}

function memoryOf(pid: number): number {
  let privateKib = 0;
  let sharedKib = 0;
  for (const id of descendants(pid)) {
    const status = readProc(id, 'status') ?? '';
    privateKib += kib(status, 'RssAnon');
    sharedKib = Math.max(sharedKib, kib(status, 'RssShmem'));
  }
  return (privateKib + sharedKib) * 1024;
}

function kib(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}
