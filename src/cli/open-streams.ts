import { resolve } from 'node:path';
import pc from 'picocolors';
import {
  createFileSink,
  createProgressLines,
  createStatusLine,
  createStreamSink,
  createTextSink,
  createTextWriter,
  createWarningLines,
  type EventSink,
  oneLine,
  openTraceSink,
  systemClock,
} from '../events/index.ts';
import type { RunSinks } from '../run/index.ts';
import type { Io } from './command.ts';
import { type GivenOptions, textOf } from './read-options.ts';

/** Where the events of a run go: stdout in the form asked for, `--events`, and progress for people on stderr. */
export async function openStreams(options: GivenOptions, io: Io): Promise<RunSinks> {
  const format = formatOf(options, io);
  const file = textOf(options, 'events');
  const others: EventSink[] = file === null ? [] : [await createFileSink(resolve(io.cwd(), file))];
  const stderr = createTextWriter(io.stderr, 'stderr');
  // What is said there is a courtesy: a run does not depend on it.
  const say = (text: string) => stderr.write(text).catch(() => undefined);
  const status =
    io.stderr.isTTY && format !== 'quiet'
      ? createStatusLine({
          write: say,
          columns: () => io.stderr.columns || 80,
          clock: systemClock,
        })
      : null;
  if (status !== null) others.push(status);
  else if (format === 'jsonl') others.push(createProgressLines({ write: say, clock: systemClock }));
  if (format !== 'text')
    others.push(createWarningLines({ write: (text) => (status === null ? say(text) : status.around(say, text)) }));
  const traces = await openTraceSink(io.env, {
    onProblem: (message) => void say(`belay: ${oneLine(message)}\n`),
  });
  if (traces !== null) others.push(traces);
  return { main: mainSink(format, io, status), others };
}

/** For a run that is refused before its other streams are known to work. */
export function stdoutOnly(options: GivenOptions, io: Io): RunSinks {
  return { main: mainSink(formatOf(options, io), io, null), others: [] };
}

/** Whether whoever reads stderr sees the verdict as well, as text on the same terminal. */
export function showsVerdict(options: GivenOptions, io: Io): boolean {
  return formatOf(options, io) === 'text' && Boolean(io.stdout.isTTY && io.stderr.isTTY);
}

export function formatOf(options: GivenOptions, io: Io): string {
  return textOf(options, 'format') ?? (io.stdout.isTTY ? 'text' : 'jsonl');
}

function mainSink(format: string, io: Io, status: ReturnType<typeof createStatusLine> | null): EventSink | null {
  if (format === 'quiet') return null;
  if (format === 'jsonl') return createStreamSink(io.stdout, 'stdout');
  const stdout = createTextWriter(io.stdout, 'stdout');
  const shareTerminal = status !== null && io.stdout.isTTY;
  return createTextSink({
    colors: pc.createColors(io.stdout.isTTY === true && io.env['NO_COLOR'] === undefined),
    write: (text) => (shareTerminal ? status.around((line) => stdout.write(line), text) : stdout.write(text)),
    flush: () => stdout.flush(),
  });
}
