import { openThread, type StoredThread, stateFolder } from '../thread/index.ts';
import type { Io } from './command.ts';

/** Whether a word stands for a thread rather than for a file; a misspelt id as well, so that the ones like it can be told. */
export function namesThread(word: string): boolean {
  return /^t_[\w-]+$/.test(word);
}

/** The thread that a word names; null where it names a file. Throws UsageError where there is no such thread. */
export async function openNamedThread(word: string, { env }: Pick<Io, 'env'>): Promise<StoredThread | null> {
  return namesThread(word) ? openThread(stateFolder(env), word) : null;
}
