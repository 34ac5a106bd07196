import { type BigIntStats, lstatSync, type Stats, statSync } from 'node:fs';
import { hasCode } from '../errors.ts';

/** What lies at a path, a link not followed; null where nothing does, be it that something else than a folder is above it. */
export function statOrNull(path: string): Stats | null {
  return orNull(() => lstatSync(path, QUIET), 'ENOTDIR', 'ELOOP');
}

/** `statOrNull`, to the nanosecond. */
export function exactStatOrNull(path: string): BigIntStats | null {
  return orNull(() => lstatSync(path, { ...QUIET, bigint: true }), 'ENOTDIR', 'ELOOP');
}

/** What a path leads to; null where that is nothing, or nothing that this process comes to. */
export function reachedOrNull(path: string): Stats | null {
  return orNull(() => statSync(path, QUIET), 'ENOTDIR', 'ELOOP', 'EACCES');
}

/** Spares the error, far dearer than the call, where there is no such name; not where a file is in the place of a folder. */
const QUIET = { throwIfNoEntry: false } as const;

function orNull<T>(look: () => T | undefined, ...codes: readonly string[]): T | null {
  try {
    return look() ?? null;
  } catch (error) {
    if (hasCode(error, ...codes)) return null;
    throw error;
  }
}
