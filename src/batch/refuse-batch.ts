import { type BatchStop, type Clock, explainError } from '../events/index.ts';
import { type BatchSink, type BatchStream, createBatchStream } from './batch-stream.ts';
import { rollUp } from './roll-up.ts';

/** What an error that ended a whole batch means for its user. */
export function stopOf(error: unknown): BatchStop {
  const { outcome, reason } = explainError(error);
  return { kind: outcome === 'usage_error' ? outcome : 'internal_error', reason };
}

/** Ends a stream that an error cut short, with its start where that is not out yet, and tells what has ended; resolves to the exit code. */
export async function endByError(stream: BatchStream, error: unknown, version: string): Promise<number> {
  const { started, jobs, durationMs } = stream.told();
  if (started === null)
    await stream.emit({
      type: 'batch.started',
      belay_version: version,
      batch: null,
      shard: null,
      jobs: [],
      concurrency: 0,
    });
  const completed = rollUp({
    records: jobs,
    recorded: jobs.filter(({ recorded }) => recorded).length,
    batch: started?.batch ?? null,
    shard: started?.shard ?? null,
    durationMs,
    stopped: stopOf(error),
    combination: null,
    missing: null,
  });
  await stream.emit(completed);
  await stream.close();
  return completed.exit_code;
}

export interface RefusedBatch {
  version: string;
  sinks: readonly BatchSink[];
  clock: Clock;
}

/** A batch that cannot begin because of how it was asked for: its stream is one start and one end. Resolves to the exit code. */
export async function refuseBatch(error: unknown, { version, sinks, clock }: RefusedBatch): Promise<number> {
  const stream = createBatchStream({
    sinks,
    clock,
    interrupt: new AbortController().signal,
    // The exit code tells what a reader that went away, or a full disk, does not take.
    onSinkFailed: () => undefined,
  });
  return endByError(stream, error, version);
}
