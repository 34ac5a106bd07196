import { mkdir, open, readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { RunBlockedError, UsageError } from '../errors.ts';
import { type Clock, type EventLine, nameSome, type Redactor, readEvents } from '../events/index.ts';
import { lockPath } from './create-thread.ts';
import { ARTIFACTS_FOLDER, EVENTS_FILE, NOTES_FILE, openDiskThread } from './disk-thread.ts';
import { acquireLock } from './lock.ts';
import { orNull } from './or-null.ts';
import { type NoteLine, readNoteFile, scanNotes } from './read-notes.ts';
import { isThreadId, threadsFolder } from './state-folder.ts';
import { BLOBS_FOLDER, checkOutputs, type OutputNote } from './stored-output.ts';
import type { Thread } from './thread.ts';
import { FORMAT, readMeta, type ThreadMeta, writeMeta } from './thread-meta.ts';
import { readPast, type ThreadPast } from './thread-past.ts';

/** A thread for reading; a run may be writing it. */
export interface StoredThread {
  readonly id: string;
  readonly dir: string;
  readonly meta: ThreadMeta;
  /** The events of all its runs, as they were written. */
  readonly eventsPath: string;
  readEvents(): AsyncGenerator<EventLine, void, undefined>;
  readNotes(): AsyncGenerator<NoteLine, void, undefined>;
  /** Each output that is not on disk as it was kept, in words. */
  checkOutputs(): AsyncGenerator<string, void, undefined>;
  /** The same, and before it what is wrong with the notes. */
  checkNotes(): AsyncGenerator<string, void, undefined>;
}

/** Throws UsageError when there is no such thread. */
export async function openThread(stateDir: string, id: string): Promise<StoredThread> {
  const dir = join(threadsFolder(stateDir), id);
  const meta = isThreadId(id) ? await readMeta(dir) : 'missing';
  if (meta === 'missing') throw await noThread(stateDir, id);
  if ('unreadable' in meta)
    throw new UsageError(`the thread ${id} in ${stateDir} cannot be opened: ${meta.unreadable}`, { code: 'no_thread' });
  const eventsPath = join(dir, EVENTS_FILE);
  return {
    ...{ id, dir, meta, eventsPath },
    readEvents: () => readEvents(eventsPath),
    readNotes: () => readNoteFile(join(dir, NOTES_FILE)),
    async *checkOutputs() {
      yield* checkOutputs(dir, (await scanNotes(join(dir, NOTES_FILE))).outputs);
    },
    async *checkNotes() {
      const outputs = new Map<string, OutputNote>();
      for await (const line of readNoteFile(join(dir, NOTES_FILE))) {
        if (line.kind === 'fault') yield `${NOTES_FILE}:${line.lineNumber}: ${line.reason}`;
        else if (line.note.kind === 'output') outputs.set(line.note.id, line.note);
      }
      yield* checkOutputs(dir, outputs);
    },
  };
}

const MOST_NAMED = 3;

/** A part of an id is not taken for the whole, also where it fits one thread alone: another one may fit tomorrow. */
async function noThread(stateDir: string, id: string): Promise<UsageError> {
  const all = (await orNull(readdir(threadsFolder(stateDir)))) ?? [];
  const like = id.length < 3 ? [] : all.filter((name) => isThreadId(name) && name.startsWith(id)).sort();
  const hint =
    like.length === 0
      ? 'see belay thread list'
      : `give the whole id of ${nameSome(like, MOST_NAMED)}, which ${like.length === 1 ? 'begins' : 'begin'} so`;
  return new UsageError(`there is no thread ${JSON.stringify(id)} in ${stateDir}; ${hint}`, { code: 'no_thread' });
}

/**
 * Opens a thread of an earlier run for writing. Half a line that a killed run left at the end is taken off. Throws UsageError when
 * there is no such thread or its notes are damaged, and RunBlockedError `busy` when a run is writing it. A thread of an earlier format
 * gets this one's: an earlier belay could not read what is written from here on.
 */
export async function resumeThread(options: {
  stateDir: string;
  id: string;
  /** Of the belay that goes on. */
  version: string;
  redactor: Redactor;
  clock: Clock;
}): Promise<Thread> {
  const { id, dir } = await openThread(options.stateDir, options.id);
  const lock = await acquireLock({ path: lockPath(dir), owner: id });
  if (lock.kind === 'held') {
    throw new RunBlockedError(
      'busy',
      `thread ${id} is in use by process ${lock.by.pid} on ${lock.by.host} since ${lock.by.since}`,
    );
  }
  try {
    // A run that was killed in its first moments has not made them all.
    for (const name of [BLOBS_FOLDER, ARTIFACTS_FOLDER]) await mkdir(join(dir, name), { recursive: true, mode: 0o700 });
    await Promise.all([EVENTS_FILE, NOTES_FILE].map((name) => dropTornLine(join(dir, name))));
    const { fault, ...noted } = await scanNotes(join(dir, NOTES_FILE));
    if (fault !== null)
      throw new UsageError(`thread ${id} cannot be resumed: ${NOTES_FILE}, ${fault}`, {
        code: 'thread_damaged',
      });
    const { meta } = await openThread(options.stateDir, id);
    if (meta.format < FORMAT) await writeMeta(dir, { ...meta, format: FORMAT, belay_version: options.version });
    return await openDiskThread({
      ...{ id, dir, noted, redactor: options.redactor, ephemeral: false },
      now: () => options.clock.now(),
      async syncFolders() {},
      release: lock.release,
    });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The past of a thread that is open for writing. Throws UsageError where its log is damaged. */
export async function loadPast({ id, dir }: Pick<Thread, 'id' | 'dir'>): Promise<ThreadPast> {
  const meta = await readMeta(dir);
  const importedNotes = typeof meta === 'object' && 'imported_notes' in meta ? (meta.imported_notes ?? null) : null;
  const past = await readPast({ events: join(dir, EVENTS_FILE), notes: join(dir, NOTES_FILE), importedNotes });
  if ('fault' in past)
    throw new UsageError(`thread ${id} cannot be resumed: ${past.fault}`, { code: 'thread_damaged' });
  return past;
}

const BLOCK_BYTES = 65_536;

async function dropTornLine(path: string): Promise<void> {
  const handle = await open(path, 'a+', 0o600);
  let wholeBytes = 0;
  let size = 0;
  try {
    ({ size } = await handle.stat());
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let end = size; end > 0 && wholeBytes === 0; end -= BLOCK_BYTES) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const { bytesRead } = await handle.read(block, 0, end - start, start);
      wholeBytes = start + block.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      if (wholeBytes === start) wholeBytes = 0;
    }
  } finally {
    await handle.close();
  }
  if (wholeBytes < size) await truncate(path, wholeBytes);
}
