import { randomBytes } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, sep } from 'node:path';
import { codeOf, UsageError } from '../errors.ts';

/**
 * Where belay keeps what outlives a run: `$BELAY_HOME`, else `$XDG_STATE_HOME/belay`, else `~/.local/state/belay`. As the XDG rules say,
 * a relative path counts as unset.
 */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const xdg = absolute(env['XDG_STATE_HOME']);
  const home = absolute(env['HOME']) ?? homedir();
  return (
    absolute(env['BELAY_HOME']) ?? (xdg === undefined ? join(home, '.local', 'state', 'belay') : join(xdg, 'belay'))
  );
}

export const threadsFolder = (stateDir: string) => join(stateDir, 'threads');

const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$/;

/** Whether a text can be a thread's name; whatever else would be a path is not. */
export const isThreadId = (id: string) => THREAD_ID.test(id);

/** Sorts by the time of the start; unique without asking anybody. */
export function createThreadId(nowMs: number): string {
  return `t_${nowMs.toString(36).padStart(9, '0')}_${randomBytes(5).toString('hex')}`;
}

/** Creates the state folder, for its owner alone. Throws UsageError when that is not possible or the folder would be inside the workspace. */
export async function openStateFolder(stateDir: string, workspace: string): Promise<void> {
  try {
    await mkdir(threadsFolder(stateDir), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusableState(stateDir, error, OR_EPHEMERAL);
  }
  if (await isInside(stateDir, workspace)) {
    throw new UsageError(
      `the state folder ${stateDir} is inside the workspace, where the agent could change it; set BELAY_HOME to a folder outside, or use --ephemeral`,
      { code: 'state_folder' },
    );
  }
}

/** By real paths; both exist. */
export async function isInside(folder: string, root: string): Promise<boolean> {
  const [inner, outer] = await Promise.all([realpath(folder), realpath(root)]);
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

export const OR_EPHEMERAL = ', or use --ephemeral to keep no thread';

/**
 * What a person can do about a state folder that takes nothing; `orElse`: instead of another folder. Errors without a system code are
 * bugs and stay what they are.
 */
export function unusableState(stateDir: string, error: unknown, orElse = ''): unknown {
  const code = codeOf(error);
  if (code === null) return error;
  return new UsageError(
    `cannot write to the state folder ${stateDir} (${code}); set BELAY_HOME to a folder that can be written${orElse}`,
    { code: 'state_folder', cause: error },
  );
}
