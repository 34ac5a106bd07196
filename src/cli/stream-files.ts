import { readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf } from '../errors.ts';
import type { Io } from './command.ts';
import { type GivenOptions, textOf } from './read-options.ts';

/** Files that this process writes while the run is under way: `--events`, and what the shell redirected stdout and stderr to. */
export function streamFiles(options: GivenOptions, io: Pick<Io, 'cwd'>): string[] {
  const events = textOf(options, 'events');
  const redirected = [1, 2].map(fileOf).filter((path) => path !== null);
  return [...(events === null ? [] : [resolve(io.cwd(), events)]), ...redirected];
}

/** Linux tells what a descriptor is open on; elsewhere, and for pipes and terminals, nothing is known or needed. */
function fileOf(descriptor: number): string | null {
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`);
    return path.startsWith('/') && !path.startsWith('/dev/') ? path : null;
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
