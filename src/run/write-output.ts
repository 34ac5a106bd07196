import { constants } from 'node:fs';
import { lstat, rm, writeFile } from 'node:fs/promises';
import { sep } from 'node:path';
import { codeOf, hasCode } from '../errors.ts';
import { realFile } from './real-file.ts';
import type { Session } from './session.ts';

export interface OutputSite extends Pick<Session, 'noteProblem'> {
  /** What an agent may have put in the way; null where none was there. */
  ground: OutputGround | null;
}

export interface OutputGround {
  workspace: { readonly root: string };
  /** Real paths of the run's own files, as they were before an agent could write. */
  ownFiles: readonly string[];
}

const PLAIN = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

/**
 * Writes a file that the user asked for, and returns whether it is there. One that cannot be written is told and taken away, so that no
 * half of a patch or a result is taken for the whole; it costs the run nothing else. In the workspace, what an agent left at its place is
 * neither followed nor waited for: this write is outside of the fence.
 */
export async function writeOutput(path: string, content: Buffer | string, site: OutputSite): Promise<boolean> {
  const { ground, noteProblem } = site;
  const place = ground === null ? path : await realFile(path);
  if (ground !== null && !ground.ownFiles.includes(place)) {
    await noteProblem(`cannot write ${path}: a folder on the way to it was replaced during the run`);
    return false;
  }
  const isReachable = ground !== null && place.startsWith(ground.workspace.root + sep);
  try {
    if (isReachable) await clear(place);
    await writeFile(place, content, { flag: isReachable ? PLAIN | constants.O_NOFOLLOW : PLAIN });
    return true;
  } catch (error) {
    await removeHalf(place);
    await noteProblem(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/** A link would lead out of the workspace, and a pipe would wait for a reader. */
async function clear(place: string): Promise<void> {
  try {
    const entry = await lstat(place);
    if (!entry.isFile() && !entry.isDirectory()) await rm(place);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

async function removeHalf(path: string): Promise<void> {
  try {
    // Devices and pipes stay.
    if ((await lstat(path)).isFile()) await rm(path);
  } catch (error) {
    // It is not there, or cannot be touched at all: the failure to write it is what is told.
    if (codeOf(error) === null) throw error;
  }
}
