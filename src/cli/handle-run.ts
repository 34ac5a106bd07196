import { UsageError } from '../errors.ts';
import { oneLine } from '../events/index.ts';
import { type RunRequest, refuseRun, startRun } from '../run/index.ts';
import type { Handler, Invocation } from './command.ts';
import { guardRun } from './guard-run.ts';
import { openStreams, stdoutOnly } from './open-streams.ts';
import { usableFile } from './output-file.ts';
import { describeBug, print } from './print.ts';
import { textOf } from './read-options.ts';

/** What `run` and `resume` do with a request once it is read; where it cannot be, the stream has its start and its end all the same. */
export function handleRun(readRequest: (invocation: Invocation) => Promise<RunRequest>): Handler {
  return async (invocation) => {
    const { io, options, version } = invocation;
    let streams = stdoutOnly(options, io);
    let request: RunRequest;
    try {
      streams = await openStreams(options, io);
      request = await readRequest(invocation);
    } catch (error) {
      await print(io.stderr, `belay: ${error instanceof UsageError ? error.message : describeBug(error)}\n`);
      const result = await refuseRun(error, {
        version,
        sinks: streams,
        resultFile: await usableFile(textOf(options, 'result'), io.cwd()),
      });
      return result.exit_code;
    }
    const run = startRun(request, streams);
    const result = await guardRun(run, io);
    if (result.outcome !== 'verified' && result.outcome !== 'unchecked')
      await print(io.stderr, `belay: ${result.outcome}: ${oneLine(result.reason)}\n`);
    return result.exit_code;
  };
}
