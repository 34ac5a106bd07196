import { UsageError } from '../errors.ts';
import { oneLine } from '../events/index.ts';
import { type RunHandle, type RunRequest, type RunSinks, refuseRun, startRun } from '../run/index.ts';
import type { Handler, Invocation, Io } from './command.ts';
import { guardRun } from './guard-run.ts';
import { openStreams, showsVerdict, stdoutOnly } from './open-streams.ts';
import { usableFile } from './output-file.ts';
import { describeFailure, print } from './print.ts';
import { textOf } from './read-options.ts';

/** What `run` and `resume` do with a request once it is read. */
export function handleRun(readRequest: (invocation: Invocation) => Promise<RunRequest>): Handler {
  return (invocation) =>
    handleAsked(invocation, readRequest, (request, sinks) => sayEnd(startRun(request, sinks), invocation));
}

/** Reads what is asked, then does it; where it cannot be read, the stream has its start and its end all the same. */
export async function handleAsked<Asked>(
  invocation: Invocation,
  read: (invocation: Invocation) => Promise<Asked>,
  act: (asked: Asked, sinks: RunSinks) => Promise<number>,
): Promise<number> {
  const { io, options, fault } = invocation;
  let sinks = stdoutOnly(options, io);
  let asked: Asked;
  try {
    sinks = await openStreams(options, io);
    if (fault !== null) throw fault;
    asked = await read(invocation);
  } catch (error) {
    return sayRefused(error, invocation, sinks);
  }
  return act(asked, sinks);
}

/** Refuses a run that cannot begin, on stderr and in its stream; returns the exit code. */
async function sayRefused(error: unknown, { io, options, version }: Invocation, sinks: RunSinks): Promise<number> {
  if (!(error instanceof UsageError && showsVerdict(options, io)))
    await print(io.stderr, `belay: ${describeFailure(error)}\n`);
  const resultFile = await usableFile(textOf(options, 'result'), io.cwd());
  const { result, problems } = await refuseRun(error, { version, sinks, resultFile });
  await sayProblems(problems, io);
  return result.exit_code;
}

/** Waits for the end of a run, says on stderr what its stream may not have said, and returns the exit code. */
export async function sayEnd(run: RunHandle, { io, options }: Pick<Invocation, 'io' | 'options'>): Promise<number> {
  const result = await guardRun(run, io);
  await sayProblems(run.problems(), io);
  const isBad = result.outcome !== 'verified' && result.outcome !== 'unchecked';
  if (isBad && !showsVerdict(options, io))
    await print(io.stderr, `belay: ${result.outcome}: ${oneLine(result.reason)}\n`);
  return result.exit_code;
}

async function sayProblems(problems: readonly string[], io: Pick<Io, 'stderr'>): Promise<void> {
  for (const problem of problems) await print(io.stderr, `belay: ${oneLine(problem, 1000)}\n`);
}
