import { codeOf, UsageError } from '../errors.ts';
import type { BatchStop, Clock } from '../events/index.ts';
import { type BatchSink, type BatchStream, createBatchStream } from './batch-stream.ts';
import { rollUp } from './roll-up.ts';

/** What an error that ended a whole batch means for its user. Anything unknown is a bug in belay, and said to be one. */
export function stopOf(error: unknown): BatchStop {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) return { kind: 'usage_error', reason: message };
  const whose = codeOf(error) === null ? 'a bug in belay' : 'belay could not use its files';
  return { kind: 'internal_error', reason: `${whose}: ${message}` };
}

/** Ends a stream that an error cut short, with its start where that is not out yet; resolves to the exit code. */
export async function endByError(stream: BatchStream, error: unknown, version: string): Promise<number> {
  if (!stream.isStarted())
    await stream.emit({
      type: 'batch.started',
      belay_version: version,
      batch: null,
      shard: null,
      jobs: [],
      concurrency: 0,
    });
  const completed = rollUp({
    records: [],
    recorded: 0,
    batch: null,
    shard: null,
    durationMs: 0,
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
