import { realpath } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import { createRedactor, systemClock } from '../events/index.ts';
import {
  namedTreesOf,
  openThread,
  packThread,
  readTimeline,
  resumeThread,
  type ThreadMeta,
  unpackThread,
} from '../thread/index.ts';
import { packSnapshots, unpackSnapshots } from '../workspace/index.ts';

export interface ExportRequest {
  stateDir: string;
  threadId: string;
  /** Absolute. */
  file: string;
  version: string;
  /** The harness's PATH. */
  path: string;
}

/** One file with everything that another machine needs to go on. Throws RunBlockedError `busy` while a run writes the thread. */
export async function exportThread({ stateDir, threadId, file, version, path }: ExportRequest): Promise<void> {
  // Held so that nothing changes meanwhile; half a line at the end is taken off.
  const redactor = createRedactor([]);
  const held = await resumeThread({ stateDir, id: threadId, version, redactor, clock: systemClock });
  try {
    const stored = await openThread(stateDir, threadId);
    const trees = namedTreesOf(await readTimeline(stored));
    const snapshots = await snapshotsOf({ storeDir: stored.dir, workspace: stored.meta.workspace, path, trees });
    try {
      await packThread(stored, { file, version, snapshots });
    } finally {
      await snapshots?.remove();
    }
  } finally {
    await held.close();
  }
}

/** null for a thread whose run ended before it had any. */
async function snapshotsOf(query: Parameters<typeof packSnapshots>[0]) {
  try {
    return await packSnapshots(query);
  } catch (error) {
    if (error instanceof UsageError && error.code === 'no_snapshots') return null;
    throw error;
  }
}

export interface ImportRequest {
  stateDir: string;
  /** Absolute. */
  file: string;
  /** The folder that the thread is to work in. */
  workspace: string;
  maxBytes: number;
  path: string;
}

/** Takes a thread over from another machine. The file may come from anybody: nothing of it decides a path, and all of it is checked. */
export async function importThread({ stateDir, file, workspace, maxBytes, path }: ImportRequest): Promise<ThreadMeta> {
  const folder = await realFolder(workspace);
  return unpackThread({
    ...{ stateDir, file, workspace: folder, maxBytes },
    takeSnapshots: (storeDir, files, trees) =>
      unpackSnapshots({ storeDir, workspace: folder, path, files, trees, maxBytes }),
  });
}

async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw new UsageError(`the workspace ${path} is not a folder that can be read`, { cause: error });
  }
}
