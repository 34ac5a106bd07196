import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { acquireLock, type LockOutcome } from './lock.ts';

/** State folders that cannot take a lock; every run of this user then finds the same other place. */
const UNWRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR'];

/**
 * The right to change a workspace, by its real path. Ephemeral runs need it too; where the state folder cannot be written, the lock is
 * in a private folder of the temporary one.
 */
export async function lockWorkspace(options: {
  stateDir: string;
  workspace: string;
  owner: string;
}): Promise<LockOutcome> {
  const key = createHash('sha256')
    .update(await realpath(options.workspace))
    .digest('hex');
  const lockIn = async (folder: string) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return acquireLock({ path: join(folder, `${key}.lock`), owner: options.owner });
  };
  try {
    return await lockIn(join(options.stateDir, 'locks'));
  } catch (error) {
    if (!hasCode(error, ...UNWRITABLE)) throw error;
    const folder = join(tmpdir(), `belay-locks-${userInfo().uid}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await lstat(folder);
    if (!found.isDirectory() || found.uid !== userInfo().uid) {
      throw new UsageError(
        `cannot lock the workspace: ${folder} belongs to somebody else; set BELAY_HOME to a folder that can be written`,
        {
          code: 'state_folder',
          cause: error,
        },
      );
    }
    return lockIn(folder);
  }
}
