import type { Result } from '../events/index.ts';
import type { RunHandle } from '../run/index.ts';
import type { Io } from './command.ts';

/** Turns signals into interruptions while a run is under way. */
export async function guardRun(run: RunHandle, io: Pick<Io, 'on' | 'off'>): Promise<Result> {
  const onInt = () => run.interrupt('SIGINT');
  const onTerm = () => run.interrupt('SIGTERM');
  io.on('SIGINT', onInt);
  io.on('SIGTERM', onTerm);
  // A closed terminal ends the run in the same orderly way.
  io.on('SIGHUP', onTerm);
  try {
    return await run.result;
  } finally {
    io.off('SIGINT', onInt);
    io.off('SIGTERM', onTerm);
    io.off('SIGHUP', onTerm);
  }
}
