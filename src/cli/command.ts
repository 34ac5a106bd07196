import type { OptionTable } from './options.ts';
import type { GivenOptions } from './read-options.ts';

/** What the command line may touch of its process. */
export type Io = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'cwd' | 'on' | 'off'>;

export interface Invocation {
  options: GivenOptions;
  /** Positional arguments, in order, those that were given. */
  words: readonly string[];
  io: Io;
  version: string;
}

/** Does the work and returns the exit code. Throws `UsageError` for bad usage. */
export type Handler = (invocation: Invocation) => Promise<number>;

export interface Command {
  usage: string;
  describe: string;
  positionals: Readonly<Record<string, { describe: string }>>;
  options: OptionTable;
  epilogue?: string;
  load(): Promise<Handler>;
}
