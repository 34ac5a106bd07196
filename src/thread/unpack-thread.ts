import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { type EventLine, FIRST_PREV, readEvents } from '../events/index.ts';
import { lockPath } from './create-thread.ts';
import { ARTIFACTS_FOLDER, EVENTS_FILE, NOTES_FILE } from './disk-thread.ts';
import { acquireLock } from './lock.ts';
import { orNull } from './or-null.ts';
import type { PackedSnapshots } from './pack-thread.ts';
import { type NoteLine, readNoteFile } from './read-notes.ts';
import { readThreadFile } from './read-thread-file.ts';
import { isThreadId, openStateFolder, threadsFolder, unusableState } from './state-folder.ts';
import { BLOBS_FOLDER, checkOutputs, OUTPUTS_FOLDER, type OutputNote } from './stored-output.ts';
import { SNAPSHOT_ENTRIES } from './thread-file.ts';
import { META_FILE, parseMeta, readMeta, type ThreadMeta, TRUST_OPTIONS, writeMeta } from './thread-meta.ts';
import type { ThreadNote } from './thread-note.ts';
import { type NamedTrees, namedTreesOf, readTimeline } from './timeline.ts';

export interface UnpackOptions {
  stateDir: string;
  file: string;
  /** Real path of the folder that the thread is to work in. */
  workspace: string;
  /** Of all entries together. */
  maxBytes: number;
  /** Makes the snapshots; called when the log has been checked. */
  takeSnapshots(dir: string, files: PackedSnapshots, trees: NamedTrees): Promise<void>;
}

const SNAPSHOTS_FOLDER = 'snapshots';
/** The entry of that name, until all is checked: a folder without its `meta.json` is no thread. */
const META_DRAFT = 'incoming.json';

/**
 * Reads a thread from a file of unknown origin, checks all of it, and keeps it under its own id. Options that its run was given do not hold
 * here; those that decided what it trusts have to be given anew. Throws UsageError, and then keeps nothing.
 */
export async function unpackThread(options: UnpackOptions): Promise<ThreadMeta> {
  const { stateDir, file, workspace } = options;
  await openStateFolder(stateDir, workspace);
  const made: string[] = [];
  const locks: { release(): Promise<void> }[] = [];
  try {
    const header = await readThreadFile({
      path: file,
      maxBytes: options.maxBytes,
      async place({ thread_id: id }) {
        const dir = join(threadsFolder(stateDir), isThreadId(id) ? id : refuseName(file, id));
        locks.push(await claimFolder(dir, id));
        made.push(dir);
        for (const folder of [BLOBS_FOLDER, OUTPUTS_FOLDER, ARTIFACTS_FOLDER, SNAPSHOTS_FOLDER])
          await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
        return (name) => join(dir, name === META_FILE ? META_DRAFT : name);
      },
    });
    const meta = await settle(join(threadsFolder(stateDir), header.thread_id), header.thread_id, options);
    made.pop();
    return meta;
  } catch (error) {
    throw error instanceof UsageError ? error : unusableState(stateDir, error);
  } finally {
    for (const dir of made) await rm(dir, { recursive: true, force: true });
    for (const lock of locks) await lock.release();
  }
}

function refuseName(file: string, id: string): never {
  throw new UsageError(`${file}: ${JSON.stringify(id)} is no name for a thread`, { code: 'thread_file' });
}

/** An empty folder, locked: a new one, or that of an import that was killed. */
async function claimFolder(dir: string, id: string): Promise<{ release(): Promise<void> }> {
  const refuse = (what: string): never => {
    throw new UsageError(`thread ${id} ${what}`, { code: 'thread_exists' });
  };
  const isNew = await makeFolder(dir);
  const isThread = async () => !isNew && (await readMeta(dir)) !== 'missing';
  const here = `is here already; belay thread show ${id}`;
  if (await isThread()) return refuse(here);
  const lock = await acquireLock({ path: lockPath(dir), owner: 'import' });
  if (lock.kind === 'held') return refuse(`is being imported by process ${lock.by.pid}`);
  // Its import may have come to its end in between.
  if (await isThread()) {
    await lock.release();
    return refuse(here);
  }
  for (const name of await readdir(dir))
    if (join(dir, name) !== lockPath(dir)) await rm(join(dir, name), { recursive: true, force: true });
  return lock;
}

/** Whether it was not there. */
async function makeFolder(dir: string): Promise<boolean> {
  try {
    await mkdir(dir, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function settle(dir: string, id: string, { file, workspace, takeSnapshots }: UnpackOptions): Promise<ThreadMeta> {
  const refuse = (why: string): never => {
    throw new UsageError(`${file} is no thread that can be imported: ${why}`, { code: 'thread_file' });
  };
  const found = parseMeta((await orNull(readFile(join(dir, META_DRAFT), 'utf8'))) ?? '');
  if ('unreadable' in found) return refuse(found.unreadable);
  if (found.thread_id !== id) return refuse(`its ${META_FILE} names another thread`);
  for (const name of [EVENTS_FILE, NOTES_FILE])
    if ((await orNull(stat(join(dir, name)))) === null) return refuse(`it lacks ${name}`);
  const outputs = new Map<string, OutputNote>();
  let notes = 0;
  const onNote = (note: ThreadNote) => {
    notes += 1;
    if (note.kind === 'output') outputs.set(note.id, note);
  };
  const readings = {
    readEvents: () => wholeEvents(join(dir, EVENTS_FILE), refuse),
    readNotes: () => wholeNotes(join(dir, NOTES_FILE), { refuse, onNote }),
  };
  const trees = namedTreesOf(await readTimeline(readings));
  for await (const fault of checkOutputs(dir, outputs)) return refuse(fault);
  const files = {
    pack: join(dir, SNAPSHOT_ENTRIES.pack),
    start: join(dir, SNAPSHOT_ENTRIES.start),
    attributes: join(dir, SNAPSHOT_ENTRIES.attributes),
  };
  const has = await Promise.all(Object.values(files).map((path) => orNull(stat(path))));
  const isWhole = !has.includes(null);
  if (!isWhole && (trees.needed.length > 0 || has.some((one) => one !== null)))
    return refuse('its snapshots are not whole');
  if (isWhole) await takeSnapshots(dir, files, trees);
  await rm(join(dir, SNAPSHOTS_FOLDER), { recursive: true, force: true });
  await dropEmpty(join(dir, OUTPUTS_FOLDER));
  await unlink(join(dir, META_DRAFT));
  const { asked, asked_elsewhere: before = [], ...kept } = found;
  const elsewhere = [...before, ...trustOptionsOf(asked)];
  // A path or a commit of a stranger's file decides nothing here; that one was named must not get lost either.
  const meta = {
    ...kept,
    workspace,
    imported_notes: notes,
    ...(elsewhere.length === 0 ? {} : { asked_elsewhere: elsewhere }),
  };
  await writeMeta(dir, meta);
  return meta;
}

async function dropEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

function trustOptionsOf(asked: ThreadMeta['asked']): NonNullable<ThreadMeta['asked_elsewhere']> {
  const values = { policy: asked?.policy, 'policy-floor': asked?.policy_floor, 'trust-ref': asked?.trust_ref };
  return TRUST_OPTIONS.flatMap((option) => {
    const value = values[option] ?? null;
    return value === null ? [] : [{ option, value }];
  });
}

/** The events of runs one after the other, as long as nothing is wrong with them. */
async function* wholeEvents(path: string, refuse: (why: string) => never): AsyncGenerator<EventLine> {
  let prev = FIRST_PREV;
  let seq = 0;
  for await (const line of readEvents(path)) {
    if (line.kind === 'fault') return refuse(`${EVENTS_FILE}, line ${line.lineNumber}: ${line.message}`);
    const { event } = line;
    // A run begins a chain of its own.
    if (event.seq === 0 && event.type === 'run.started') [prev, seq] = [FIRST_PREV, 0];
    if (event.prev !== prev || event.seq !== seq)
      return refuse(`${EVENTS_FILE}, line ${line.lineNumber} does not follow the one before`);
    prev = createHash('sha256').update(line.line).digest('hex');
    seq += 1;
    yield line;
  }
}

/** The same of the notes. */
async function* wholeNotes(
  path: string,
  { refuse, onNote }: { refuse(why: string): never; onNote(note: ThreadNote): void },
): AsyncGenerator<NoteLine> {
  for await (const line of readNoteFile(path)) {
    if (line.kind === 'fault') return refuse(`${NOTES_FILE}, line ${line.lineNumber}: ${line.reason}`);
    onNote(line.note);
    yield line;
  }
}
