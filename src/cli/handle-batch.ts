import { type BatchSinks, refuseBatch } from '../batch/index.ts';
import { systemClock } from '../events/index.ts';
import { batchStdoutOnly, openBatchSinks } from './batch-sinks.ts';
import type { Invocation } from './command.ts';
import { describeFailure, print } from './print.ts';

/** Reads what is asked, then does it; where it cannot be read, the batch's stream has its start and its end all the same. */
export async function handleBatch<Asked>(
  invocation: Invocation,
  read: (invocation: Invocation) => Promise<Asked>,
  act: (asked: Asked, sinks: BatchSinks) => Promise<number>,
): Promise<number> {
  const { io, options, fault, version, signals } = invocation;
  // There is nothing to settle before it begins.
  await signals.release();
  let sinks = batchStdoutOnly(options, io);
  let asked: Asked;
  try {
    sinks = await openBatchSinks(options, io);
    if (fault !== null) throw fault;
    asked = await read(invocation);
  } catch (error) {
    await print(io.stderr, `belay: ${describeFailure(error)}\n`);
    const all = [...sinks.others, ...(sinks.main === null ? [] : [sinks.main])];
    return refuseBatch(error, { version, sinks: all, clock: systemClock });
  }
  return act(asked, sinks);
}
