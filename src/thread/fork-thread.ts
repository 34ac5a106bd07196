import { createWriteStream } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../errors.ts';
import type { Clock, Redactor } from '../events/index.ts';
import { readBranch, unansweredCalls } from './conversation.ts';
import { ARTIFACTS_FOLDER, EVENTS_FILE, NOTES_FILE, openDiskThread } from './disk-thread.ts';
import { linkFiles } from './link-files.ts';
import type { StoredThread } from './open-thread.ts';
import { type NoteScan, readNoteFile, readNoteLines, scanNotes } from './read-notes.ts';
import { createThreadId, openStateFolder, threadsFolder, unusableState } from './state-folder.ts';
import { BLOBS_FOLDER, blobsOf, OUTPUTS_FOLDER } from './stored-output.ts';
import { STORE_FOLDER } from './sync-store.ts';
import type { Thread } from './thread.ts';
import { FORMAT, type ThreadMeta, writeMeta } from './thread-meta.ts';

export interface ForkOptions {
  stateDir: string;
  from: StoredThread;
  /** The last turn that the new thread takes over; 0: none. */
  turn: number;
  /** null: that of the thread. */
  goal: string | null;
  /** Folder that the new thread works in. */
  workspace: string;
  version: string;
  redactor: Redactor;
  clock: Clock;
  /** Copies what else belongs to a thread, before the new one is one. */
  complete(dir: string): Promise<void>;
}

const NOT_RUN = 'not run: the thread was forked before it';

/**
 * A new thread with the log of another one up to the end of a turn, as if the run had been killed there; `belay resume` goes on. Outputs
 * and snapshots are shared as files, not by reference: either thread may be pruned. Returns the new thread's id.
 */
export async function forkThread(options: ForkOptions): Promise<string> {
  const { stateDir, from, turn, clock, redactor } = options;
  const workspace = await realpath(options.workspace);
  await openStateFolder(stateDir, workspace);
  const created = clock.now();
  const id = createThreadId(created);
  const dir = join(threadsFolder(stateDir), id);
  try {
    await mkdir(dir, { mode: 0o700 });
    for (const folder of [BLOBS_FOLDER, ARTIFACTS_FOLDER])
      await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
    await copyEvents(from, join(dir, EVENTS_FILE), turn);
    await writeLines(join(dir, NOTES_FILE), noteLines(from, turn));
    const { fault, ...noted } = await scanNotes(join(dir, NOTES_FILE));
    if (fault !== null) throw damaged(from.id, fault);
    const blobs = blobsOf(noted.outputs);
    await linkFiles(join(from.dir, BLOBS_FOLDER), join(dir, BLOBS_FOLDER), (name) =>
      blobs.has(name) ? 'link' : 'skip',
    );
    await linkFiles(join(from.dir, OUTPUTS_FOLDER), join(dir, OUTPUTS_FOLDER), () => 'link');
    await linkFiles(join(from.dir, STORE_FOLDER), join(dir, STORE_FOLDER), takesOfStore);
    const thread = await openFork({ ...options, id, dir, noted });
    await tellFork(thread, options);
    await thread.close();
    await options.complete(dir);
    const goal = options.goal === null ? from.meta.goal : redactor.redact(options.goal);
    await writeMeta(dir, {
      ...{ format: FORMAT, thread_id: id, workspace, goal, created: new Date(created).toISOString() },
      ...{ belay_version: options.version, forked_from: { thread_id: from.id, turn } },
      ...trustOf(from.meta, noted.end.seq),
    });
    return id;
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error instanceof UsageError ? error : unusableState(stateDir, error);
  }
}

/** What the first thread trusted, its branch does, and no more; a cassette's answers are of the first one's path. */
function trustOf(
  { asked, asked_elsewhere, imported_notes: imported }: ThreadMeta,
  notes: number,
): Pick<ThreadMeta, 'asked' | 'asked_elsewhere' | 'imported_notes'> {
  return {
    ...(imported === undefined ? {} : { imported_notes: Math.min(imported, notes) }),
    ...(asked === undefined ? {} : { asked: { ...asked, cassette: null } }),
    ...(asked_elsewhere === undefined ? {} : { asked_elsewhere }),
  };
}

/** The index is made anew, and a run may be writing what is temporary. */
const TRANSIENT = /^(scratch|index|sharedindex\.)|\.lock$|(^|\/)tmp_/;

function takesOfStore(path: string): 'link' | 'copy' | 'skip' {
  if (TRANSIENT.test(path)) return 'skip';
  // Objects are named by their content, and the one text among them is written anew.
  return path.startsWith('objects/') && !path.startsWith('objects/info/') ? 'link' : 'copy';
}

/** Writes the events up to the end of the turn. */
async function copyEvents(from: StoredThread, to: string, turn: number): Promise<void> {
  let found = turn === 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const line of from.readEvents()) {
      if (line.kind === 'fault') throw damaged(from.id, `${EVENTS_FILE}, line ${line.lineNumber}: ${line.message}`);
      const { event } = line;
      if (turn === 0 && event.type === 'turn.started') return;
      yield `${line.line}\n`;
      if ((event.type === 'turn.completed' || event.type === 'turn.failed') && event.turn === turn) {
        found = true;
        return;
      }
    }
  }
  await writeLines(to, lines());
  if (!found) throw new UsageError(`thread ${from.id} has no turn ${turn} that came to its end`, { code: 'no_turn' });
}

/** The lines of the notes as they are, so that their chain holds. */
async function* noteLines(from: StoredThread, turn: number): AsyncGenerator<string> {
  for await (const line of readNoteLines(join(from.dir, NOTES_FILE))) {
    if (line.kind === 'fault') throw damaged(from.id, `${NOTES_FILE}, line ${line.lineNumber}: ${line.reason}`);
    const { note } = line;
    if (note.kind === 'rollback' ? note.lastTurn >= turn : 'turn' in note && note.kind !== 'fork' && note.turn > turn)
      return;
    yield `${line.line}\n`;
  }
}

const damaged = (id: string, what: string) =>
  new UsageError(`thread ${id} cannot be forked: ${what}`, { code: 'thread_damaged' });

async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  await pipeline(lines, createWriteStream(path, { mode: 0o600, flags: 'wx', flush: true }));
}

function openFork(options: ForkOptions & { id: string; dir: string; noted: NoteScan }): Promise<Thread> {
  const { id, dir, redactor, clock, noted } = options;
  return openDiskThread({
    ...{ id, dir, redactor, noted, ephemeral: false, now: () => clock.now() },
    // Without its meta file it is no thread yet: nobody else can open it.
    async syncFolders() {},
    async release() {},
  });
}

/** What the model is told: calls that were never run, and the new goal. */
async function tellFork(thread: Thread, { from, turn, goal }: ForkOptions): Promise<void> {
  await thread.appendNote({ kind: 'fork', fromThread: from.id, turn });
  const open = unansweredCalls(await readBranch(readNoteFile(join(thread.dir, NOTES_FILE))));
  if (open.length > 0) {
    const results = open.map((call) => ({ ...call, text: NOT_RUN, isError: true }));
    await thread.appendNote({
      ...{ kind: 'message', turn, source: 'tool_result', trusted: false },
      message: { role: 'tool', results },
    });
  }
  if (goal === null) return;
  const text = `# New goal\nFrom here on work on this goal instead of the first one; the rules of the run stand.\n\n${goal}`;
  await thread.appendNote({ kind: 'message', turn, source: 'goal', trusted: true, message: { role: 'user', text } });
}
