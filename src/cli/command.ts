import type { UsageError } from '../errors.ts';
import type { HeldSignals } from './hold-signals.ts';
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
  /** Held for a run from its first line to its very end; a batch and the others take them when they begin something. */
  signals: HeldSignals;
  /** What is wrong with the command line. Only a command with a stream of events sees one, since its stream has to say it. */
  fault: UsageError | null;
}

/** Does the work and returns the exit code. Throws `UsageError` for bad usage. */
export type Handler = (invocation: Invocation) => Promise<number>;

export interface Command {
  usage: string;
  describe: string;
  positionals: Readonly<Record<string, { describe: string }>>;
  options: OptionTable;
  /** Its words name files that it reads (or ids of threads). */
  wordsAreFiles?: true;
  epilogue?: string;
  /** Writes a stream of events, also where the command line is refused. */
  hasStream?: true;
  load(): Promise<Handler>;
}
