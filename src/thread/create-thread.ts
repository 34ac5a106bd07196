import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunBlockedError, UsageError } from '../errors.ts';
import type { Clock, Redactor } from '../events/index.ts';
import { ARTIFACTS_FOLDER, openDiskThread } from './disk-thread.ts';
import { acquireLock } from './lock.ts';
import { FIRST } from './note-writer.ts';
import {
  createThreadId,
  isInside,
  OR_EPHEMERAL,
  openStateFolder,
  threadsFolder,
  unusableState,
} from './state-folder.ts';
import { BLOBS_FOLDER } from './stored-output.ts';
import { syncPath } from './sync-path.ts';
import type { Thread } from './thread.ts';
import { FORMAT, META_FILE, type ThreadMeta, writeMeta } from './thread-meta.ts';

export interface NewThreadOptions {
  stateDir: string;
  workspace: string;
  goal: string;
  /** Nothing under `stateDir`: a private temporary folder, gone at `close`. */
  ephemeral: boolean;
  /** Of the belay that makes it. */
  version?: string;
  redactor: Redactor;
  clock: Clock;
  asked?: ThreadMeta['asked'];
}

/** Opens a new thread for writing. Throws UsageError when the state folder cannot take it. */
export async function createThread(options: NewThreadOptions): Promise<Thread> {
  const { stateDir, ephemeral, clock, redactor } = options;
  const workspace = await realpath(options.workspace);
  const id = createThreadId(clock.now());
  const folder = ephemeral ? await openTemporaryFolder(workspace) : threadsFolder(stateDir);
  if (!ephemeral) await openStateFolder(stateDir, workspace);
  const dir = ephemeral ? folder : join(folder, id);
  try {
    if (!ephemeral) await mkdir(dir, { mode: 0o700 });
    const created = new Date(clock.now()).toISOString();
    const [lock] = await Promise.all([
      acquireLock({ path: lockPath(dir), owner: id }),
      ...[BLOBS_FOLDER, ARTIFACTS_FOLDER].map((name) => mkdir(join(dir, name), { recursive: true, mode: 0o700 })),
      writeMeta(
        dir,
        {
          ...{ format: FORMAT, thread_id: id, workspace, goal: redactor.redact(options.goal), created },
          ...(options.version === undefined ? {} : { belay_version: options.version }),
          ...(options.asked === undefined ? {} : { asked: options.asked }),
        },
        { isSyncedLater: true },
      ),
    ]);
    if (lock.kind === 'held') throw new RunBlockedError('busy', `thread ${id} is in use by process ${lock.by.pid}`);
    return await openDiskThread({
      ...{ id, dir, redactor, ephemeral, noted: { end: FIRST, outputs: new Map() } },
      now: () => clock.now(),
      async syncFolders() {
        await Promise.all([join(dir, META_FILE), dir, folder].map(syncPath));
      },
      release: lock.release,
    });
  } catch (error) {
    await rm(dir, { recursive: true, force: true }).catch(() => undefined);
    throw ephemeral ? error : unusableState(stateDir, error, OR_EPHEMERAL);
  }
}

export const lockPath = (dir: string) => join(dir, 'lock');

async function openTemporaryFolder(workspace: string): Promise<string> {
  try {
    const folder = await mkdtemp(join(tmpdir(), 'belay-thread-'));
    if (!(await isInside(folder, workspace))) return folder;
    await rm(folder, { recursive: true });
  } catch (error) {
    throw new UsageError(`cannot create a folder in ${tmpdir()}; set TMPDIR to a folder that can be written`, {
      code: 'state_folder',
      cause: error,
    });
  }
  throw new UsageError(
    `the temporary folder ${tmpdir()} is inside the workspace, where the agent could change it; set TMPDIR to another`,
    {
      code: 'state_folder',
    },
  );
}
