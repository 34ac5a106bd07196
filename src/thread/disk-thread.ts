import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Event, Redactor } from '../events/index.ts';
import { openJournal } from './journal.ts';
import { createNoteWriter } from './note-writer.ts';
import { openOutputStore } from './output-store.ts';
import type { NoteScan } from './read-notes.ts';
import { createStoreSync } from './sync-store.ts';
import type { Thread } from './thread.ts';
import type { ThreadNote } from './thread-note.ts';

export const EVENTS_FILE = 'events.jsonl';
export const NOTES_FILE = 'notes.jsonl';
export const ARTIFACTS_FOLDER = 'artifacts';

/** Items whose work changes something outside the log. */
const EFFECTS: ReadonlySet<string> = new Set(['command_execution', 'file_change', 'mcp_tool_call']);
/** Notes that permit something at once. */
const PERMITTING: ReadonlySet<ThreadNote['kind']> = new Set([
  ...(['approval_decided', 'work_stashed', 'work_restored', 'rollback'] as const),
]);
const ARTIFACT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export interface DiskThreadOptions {
  id: string;
  /** With its folders for blobs and artifacts. */
  dir: string;
  redactor: Redactor;
  /** What is in its notes so far. */
  noted: NoteScan;
  ephemeral: boolean;
  now(): number;
  /** Makes the folder itself last; called once, when the first sync is due. */
  syncFolders(): Promise<void>;
  release(): Promise<void>;
}

/** An index of some ten thousand files, and the last lines. */
const BALLAST_BYTES = 1024 * 1024;

/**
 * A thread in a folder. A sync costs milliseconds, so one is made where a lost machine would hurt: before an effect of the agent starts
 * (a request to the model, a command, a file write: its call and all before it are then known to a resumed run, which never repeats it),
 * before an approval is waited for or acted on, before the work is put away, and at the end.
 * Events come redacted; notes and outputs are redacted here. Artifacts are kept to the byte: a redacted patch could not be applied.
 */
export async function openDiskThread(options: DiskThreadOptions): Promise<Thread> {
  const { id, dir, redactor, ephemeral } = options;
  const durable = !ephemeral;
  const [events, notes] = await Promise.all([
    openJournal(join(dir, EVENTS_FILE), { durable }),
    openJournal(join(dir, NOTES_FILE), { durable }),
  ]);
  const appendNote = createNoteWriter(notes, { redactor, end: options.noted.end, now: options.now });
  const outputs = await openOutputStore({
    ...{ dir, redactor, durable, kept: options.noted.outputs },
    record: appendNote,
  });
  const ballast = join(dir, 'ballast');
  if (durable) await writeFile(ballast, Buffer.alloc(BALLAST_BYTES));
  const dropBallast = () => rm(ballast, { force: true });
  let foldersSynced: Promise<void> | null = null;
  let closing: Promise<void> | null = null;

  const syncStore = createStoreSync(dir);
  const syncFirst = async () => {
    if (durable) await Promise.all([options.syncFolders(), syncStore()]);
  };

  async function sync(): Promise<void> {
    foldersSynced ??= syncFirst();
    await Promise.all([events.flush(), notes.flush(), foldersSynced]);
  }

  async function close(): Promise<void> {
    try {
      await Promise.all([events.close(), notes.close(), outputs.close()]);
    } finally {
      await dropBallast();
      await options.release();
      if (ephemeral) await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  return {
    id,
    dir,
    async appendNote(note) {
      const written = appendNote(note);
      if (PERMITTING.has(note.kind)) {
        const putsAway = durable && note.kind === 'work_stashed';
        await Promise.all([written, sync(), ...(putsAway ? [syncStore()] : [])]);
      }
      return written;
    },
    openOutput: outputs.openOutput,
    readOutput: outputs.readOutput,
    async appendEvent(line, event) {
      const written = events.append(line);
      if (mustBeOnDisk(event)) await Promise.all([written, sync()]);
      else await written;
    },
    dropBallast,
    writeArtifact: (name, bytes) => writeArtifact({ dir: join(dir, ARTIFACTS_FOLDER), name, bytes, durable }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function mustBeOnDisk(event: Event): boolean {
  if (event.type === 'item.started') return event.phase === 'agent' && EFFECTS.has(event.item.type);
  return event.type === 'turn.started' || event.type === 'approval.requested' || event.type === 'run.completed';
}

async function writeArtifact(artifact: {
  dir: string;
  name: string;
  bytes: Buffer | string;
  durable: boolean;
}): Promise<string> {
  const { dir, name, bytes, durable } = artifact;
  if (!ARTIFACT_NAME.test(name)) throw new Error(`bug: ${JSON.stringify(name)} is no name for an artifact`);
  const path = join(dir, name);
  const draft = join(dir, `.${name}.${process.pid}`);
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    if (durable) await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
  return path;
}
