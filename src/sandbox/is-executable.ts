import { constants } from 'node:fs';
import { mayAccess } from './may-access.ts';
import { reachedOrNull } from './stat-or-null.ts';

/** Whether it is a file that this process may start. What keeps belay from it keeps a command from it as well. */
export function isExecutable(file: string): boolean {
  return mayAccess(file, constants.X_OK) && reachedOrNull(file)?.isFile() === true;
}
