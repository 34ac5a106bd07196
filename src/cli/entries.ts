import type { HeldSignals } from './hold-signals.ts';

declare const BELAY_VERSION: string;

/** A command line to its exit code. */
export async function main(argv: readonly string[], io: NodeJS.Process, signals: HeldSignals): Promise<number> {
  return (await import('./main.ts')).main(argv, io, signals);
}

/** A run of a batch, started by belay itself (see start-job.ts), to its exit code. */
export async function runJob(io: NodeJS.Process, signals: HeldSignals): Promise<number> {
  return (await import('./job-process.ts')).runJobProcess(io, signals, BELAY_VERSION);
}
