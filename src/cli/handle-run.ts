import { setTimeout as pause } from 'node:timers/promises';
import { UsageError } from '../errors.ts';
import { oneLine, type Result } from '../events/index.ts';
import { type RunHandle, type RunRequest, type RunSinks, refuseRun, startRun } from '../run/index.ts';
import type { Handler, Invocation } from './command.ts';
import { openStreams, showsVerdict, stdoutOnly } from './open-streams.ts';
import { usableFile } from './output-file.ts';
import { describeFailure, print } from './print.ts';
import { textOf } from './read-options.ts';

type EndingRun = Pick<RunHandle, 'result' | 'problems' | 'interrupt'>;

/** What `run` and `resume` do with a request once it is read. */
export function handleRun(readRequest: (invocation: Invocation) => Promise<RunRequest>): Handler {
  return (invocation) =>
    handleAsked(invocation, readRequest, (request, sinks) => sayEnd(startRun(request, sinks), invocation));
}

/**
 * Reads what is asked, then does it; where it cannot be read, or a signal comes before it is, the stream has its start and its end all
 * the same.
 */
export async function handleAsked<Asked>(
  invocation: Invocation,
  read: (invocation: Invocation) => Promise<Asked>,
  act: (asked: Asked, sinks: RunSinks) => Promise<number>,
): Promise<number> {
  const { io, options, fault, signals } = invocation;
  let sinks = stdoutOnly(options, io);
  const opening = openStreams(options, io).then((opened) => {
    sinks = opened;
  });
  const reading = opening.then(() => {
    if (fault !== null) throw fault;
    return read(invocation);
  });
  let asked: Asked;
  try {
    // A pipe or a terminal that the goal, say, comes from may never end.
    const interrupted = new Promise<never>((_, reject) => signals.to((why) => reject(new Error(why))));
    asked = await Promise.race([reading, interrupted]);
  } catch (error) {
    if (signals.first() !== null) {
      io.stdin.destroy();
      // What waits for the other end of a named pipe goes without its last event.
      await settlesSoon(opening);
    }
    const code = await sayRefused(error, invocation, sinks);
    // Node does not exit while it waits for the other end of a named pipe.
    if (!(await settlesSoon(reading))) await signals.release();
    return code;
  }
  return act(asked, sinks);
}

const SOON_MS = 1_000;

async function settlesSoon(work: Promise<unknown>): Promise<boolean> {
  const late = new AbortController();
  try {
    const isThere = work.then(
      () => true,
      () => true,
    );
    return await Promise.race([isThere, pause(SOON_MS, false, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}

/** Refuses a run that cannot begin, or that a signal came before, on stderr and in its stream; returns the exit code. */
export async function sayRefused(error: unknown, invocation: Invocation, sinks: RunSinks): Promise<number> {
  const { io, options, version, signals } = invocation;
  const isStopped = signals.first() !== null;
  if (!isStopped && !(error instanceof UsageError && showsVerdict(options, io)))
    await print(io.stderr, `belay: ${describeFailure(error)}\n`);
  const resultFile = await usableFile(textOf(options, 'result'), io.cwd());
  const run = refuseRun(error, { version, sinks, resultFile, interruption: signals.first() });
  return isStopped ? sayEnd(run, invocation) : (await endOf(run, invocation)).exit_code;
}

/** The result, once all is said that the stream could not say. */
export async function endOf(run: EndingRun, { io, signals }: Invocation): Promise<Result> {
  signals.to(run.interrupt);
  const result = await run.result;
  for (const problem of run.problems()) await print(io.stderr, `belay: ${oneLine(problem, 1000)}\n`);
  return result;
}

/** Waits for the end of a run, says on stderr what its stream may not have said, and returns the exit code. */
export async function sayEnd(run: EndingRun, invocation: Invocation): Promise<number> {
  const { io, options } = invocation;
  const result = await endOf(run, invocation);
  const isBad = result.outcome !== 'verified' && result.outcome !== 'unchecked';
  if (isBad && !showsVerdict(options, io))
    await print(io.stderr, `belay: ${result.outcome}: ${oneLine(result.reason)}\n`);
  return result.exit_code;
}
