import { join } from 'node:path';

/** Where a run (or a rollback) of the thread keeps what it took out of the workspace. */
export const replacedFolder = (threadDir: string, name: string): string => join(threadDir, 'replaced', name);
