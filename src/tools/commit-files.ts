import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, rename, rmdir, unlink } from 'node:fs/promises';
import * as path from 'node:path';
import { codeOf, hasCode } from '../errors.ts';
import { type FolderHandle, openFolder, PathMovedError } from './open-verified.ts';

/** What a file shall become. */
export interface FileEdit {
  /** Real path: no component of it is a link (only the last one may be, for a removal). */
  absolute: string;
  /** For messages. */
  name: string;
  /** As it was looked at; null: nothing was there. */
  before: Stats | null;
  /** null: remove it. */
  after: Buffer | null;
  /** Permission bits for the file; null: those of `before`, else what the umask leaves. */
  mode: number | null;
}

export type Commit = { kind: 'committed' } | { kind: 'failed'; reason: string };

/** Thrown and caught here only: a reason to roll back that is no system error. */
class Conflict extends Error {}

/** What was done. `undo` runs in reverse order after a failure, `forget` once all went well. */
interface Step {
  undo(): Promise<void>;
  forget?(): Promise<void>;
}

interface Transaction {
  done: Step[];
  /** Open until the end, by path. */
  folders: Map<string, FolderHandle>;
}

const temporaryName = (): string => `.belay-${randomBytes(9).toString('hex')}.tmp`;

/**
 * Makes all edits or none: every file is replaced by a rename, and on any failure what was done is undone, so that the tree is
 * as it was. Missing parent folders are made. Hard links are split: other names keep the old content. Removals come first.
 */
export async function commitFiles(edits: readonly FileEdit[]): Promise<Commit> {
  const transaction: Transaction = { done: [], folders: new Map() };
  const ordered = [...edits].sort((a, b) => Number(a.after !== null) - Number(b.after !== null));
  let current = '';
  try {
    for (const edit of ordered) {
      current = edit.name;
      await applyEdit(edit, transaction);
    }
    const left = await runAll(transaction.done.map((step) => step.forget));
    if (left.length === 0) return { kind: 'committed' };
    return { kind: 'failed', reason: `everything was written, but old files are left: ${left.join('; ')}` };
  } catch (error) {
    const lost = await runAll(transaction.done.reverse().map((step) => step.undo));
    const reason = reasonOf(error);
    if (reason === null) throw error;
    const aftermath = lost.length === 0 ? 'nothing was changed' : `not all could be undone: ${lost.join('; ')}`;
    return { kind: 'failed', reason: `${current}: ${reason}; ${aftermath}` };
  } finally {
    for (const folder of transaction.folders.values()) await folder.close();
  }
}

function reasonOf(error: unknown): string | null {
  if (error instanceof PathMovedError) return 'its folder was moved meanwhile';
  if (error instanceof Conflict) return error.message;
  const code = codeOf(error);
  return code === null ? null : `cannot be written (${code})`;
}

/** Runs all, whatever fails; returns what failed. */
async function runAll(actions: readonly (Step['forget'] | Step['undo'])[]): Promise<string[]> {
  const failures: string[] = [];
  for (const action of actions) {
    try {
      await action?.();
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  return failures;
}

async function applyEdit(edit: FileEdit, { done, folders }: Transaction): Promise<void> {
  const parent = path.dirname(edit.absolute);
  const name = path.basename(edit.absolute);
  await makeFolder(parent, done);
  const folder = folders.get(parent) ?? (await openFolder(parent));
  folders.set(parent, folder);
  await expectUnchanged(folder.at(name), edit.before);
  const staged = edit.after === null ? null : await stage(folder, { ...edit, after: edit.after }, done);
  if (edit.before !== null) await setAside(folder, { name, replaced: staged !== null }, done);
  if (staged === null) return;
  await rename(staged, folder.at(name));
  if (edit.before === null) done.push({ undo: () => unlink(folder.at(name)) });
}

async function makeFolder(absolute: string, done: Step[]): Promise<void> {
  try {
    await lstat(absolute);
    return;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const parent = path.dirname(absolute);
  await makeFolder(parent, done);
  const folder = await openFolder(parent);
  try {
    await mkdir(folder.at(path.basename(absolute)));
    done.push({ undo: () => rmdir(absolute) });
  } finally {
    await folder.close();
  }
}

async function expectUnchanged(place: string, before: Stats | null): Promise<void> {
  let now: Stats | null = null;
  try {
    now = await lstat(place);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const same =
    now === null || before === null
      ? now === before
      : now.dev === before.dev && now.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs;
  if (!same) throw new Conflict('was changed meanwhile');
}

/** The new content under another name in the same folder, so that a rename can put it in place. */
async function stage(folder: FolderHandle, edit: FileEdit & { after: Buffer }, done: Step[]): Promise<string> {
  const staged = folder.at(temporaryName());
  const mode = edit.mode ?? (edit.before === null ? null : edit.before.mode & 0o7777);
  const handle = await open(staged, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
  done.push({ undo: () => unlinkIfThere(staged) });
  try {
    await handle.writeFile(edit.after);
    if (edit.before !== null) await keepOwner(handle, edit.before);
    if (mode !== null) await handle.chmod(mode);
  } finally {
    await handle.close();
  }
  return staged;
}

async function keepOwner(handle: FileHandle, before: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid === before.uid && now.gid === before.gid) return;
  try {
    await handle.chown(before.uid, before.gid);
  } catch (error) {
    // Only root may give files away; the content is what counts.
    if (!hasCode(error, 'EPERM')) throw error;
  }
}

/** Keeps the old file under another name until all is done. */
async function setAside(
  folder: FolderHandle,
  { name, replaced }: { name: string; replaced: boolean },
  done: Step[],
): Promise<void> {
  const aside = folder.at(temporaryName());
  const linked = replaced && (await linkIfPossible(folder.at(name), aside));
  if (!linked) await rename(folder.at(name), aside);
  done.push({
    undo: async () => {
      await rename(aside, folder.at(name));
      // Renaming a file onto a link to itself does nothing.
      await unlinkIfThere(aside);
    },
    forget: () => unlink(aside),
  });
}

/** With a second link the name is never without a file, not even when we are killed. Some file systems have no hard links. */
async function linkIfPossible(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS')) throw error;
    return false;
  }
}

async function unlinkIfThere(place: string): Promise<void> {
  try {
    await unlink(place);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
