import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, readEvents } from '../events/index.ts';
import { EVENTS_FILE } from './disk-thread.ts';
import { orNull } from './or-null.ts';
import { isThreadId, threadsFolder } from './state-folder.ts';
import { readMeta } from './thread-meta.ts';

export interface ThreadSummary {
  id: string;
  dir: string;
  workspace: string;
  goal: string;
  /** RFC 3339. */
  created: string;
  /** Of its last run; null when that is under way or was killed. */
  outcome: Outcome | null;
}

/** Every thread of a state folder, oldest first. No state folder is no thread. `onUnreadable`: one that this version does not open. */
export async function listThreads(
  stateDir: string,
  onUnreadable: (id: string, reason: string) => void = () => undefined,
): Promise<ThreadSummary[]> {
  const folder = threadsFolder(stateDir);
  const summaries: ThreadSummary[] = [];
  for (const id of ((await orNull(readdir(folder))) ?? []).filter(isThreadId).sort()) {
    const dir = join(folder, id);
    const meta = await readMeta(dir);
    if (meta === 'missing') continue;
    if ('unreadable' in meta) {
      onUnreadable(id, meta.unreadable);
      continue;
    }
    const { workspace, goal, created } = meta;
    summaries.push({ id, dir, workspace, goal, created, outcome: await lastOutcome(join(dir, EVENTS_FILE)) });
  }
  return summaries;
}

/** A line is at most 1 MiB: the last one is in what is read here. */
const TAIL_BYTES = 2 * 1024 * 1024;

async function lastOutcome(path: string): Promise<Outcome | null> {
  const tail = await readTail(path);
  if (tail === null) return null;
  const end = tail.lastIndexOf(0x0a, -2);
  for await (const line of readEvents([tail.subarray(end + 1)])) {
    if (line.kind === 'event' && line.event.type === 'run.completed') return line.event.result.outcome;
  }
  return null;
}

/** null when there is no file yet. */
async function readTail(path: string): Promise<Buffer | null> {
  const handle = await orNull(open(path, 'r'));
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
