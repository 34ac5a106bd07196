import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import type { OutputPipes } from './output-pipes.ts';
import type { CommandEnd } from './sandbox.ts';

/** How one sandbox starts, ends and outlives a process. */
export interface Launch {
  /** Starts it with `outputFd` as its stdout (and stderr); may throw. */
  start(outputFd: number): ChildProcess;
  /** Lets the command begin, where `start` only sets up what it runs in. */
  release?(child: ChildProcess): void;
  /** Sends SIGKILL to everything that belongs to it. */
  kill(child: ChildProcess): void;
  /** After the first process has exited: ends what it left behind and resolves when that is gone. */
  settle(child: ChildProcess): Promise<void>;
  /** Called once it runs; ends the command when it calls `kill` with a sentence. Returns its own stop. */
  watch?(child: ChildProcess, kill: (detail: string) => void): () => void;
}

export interface ProcessEnd {
  /** What ended it first; `exited` when nothing of ours did. */
  cause: Exclude<CommandEnd['reason'], 'failed_to_start'> | 'not_started';
  detail: string | null;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  durationMs: number;
}

interface AttendOptions {
  launch: Launch;
  timeoutMs: number;
  /** As of the port. */
  onOutput(chunk: Buffer): Promise<void> | void;
  signal: AbortSignal;
}

interface RunOptions extends AttendOptions {
  pipes: OutputPipes;
}

/** A process that was started and that nobody listens to yet. */
export interface Begun {
  child: ChildProcess;
  exited: Promise<Exit>;
  /** The reader's end of its output, the holder's to close. */
  outputFd: number;
}

/** The port's 2 s, with room for the event loop. */
const END_GRACE_MS = 1_500;
/** A survivor may hold the pipe for ever; what was written before is there after so many looks without a byte. */
const QUIET_ROUNDS = 4;
const QUIET_ROUND_MS = 50;
/** What a pipe holds. */
const READ_BYTES = 64 * 1024;
const MAX_TIMER_MS = 2 ** 31 - 1;

export async function runProcess(options: RunOptions): Promise<ProcessEnd> {
  const startedAt = performance.now();
  const notStarted = (cause: ProcessEnd['cause'], detail: string): ProcessEnd => {
    const durationMs = Math.round(performance.now() - startedAt);
    return { cause, detail, exitCode: null, signal: null, durationMs };
  };
  if (options.signal.aborted) return notStarted('cancelled', CANCELLED);
  let begun: Begun;
  try {
    begun = await beginProcess(options.launch, options.pipes);
  } catch (error) {
    return notStarted('not_started', error instanceof Error ? error.message : String(error));
  }
  return attendProcess(begun, options, startedAt);
}

export async function beginProcess(launch: Pick<Launch, 'start'>, pipes: OutputPipes): Promise<Begun> {
  const pipe = await pipes.take();
  try {
    const child = launch.start(pipe.writeFd);
    return { child, exited: exitOf(child), outputFd: pipe.readFd };
  } catch (error) {
    closeSync(pipe.readFd);
    throw error;
  } finally {
    closeSync(pipe.writeFd);
  }
}

/** From the start of a process, or from its release, to its end and that of all that belongs to it. */
export async function attendProcess(
  { child, exited, outputFd }: Begun,
  { launch, signal, timeoutMs, onOutput }: AttendOptions,
  startedAt = performance.now(),
): Promise<ProcessEnd> {
  let cause: ProcessEnd['cause'] = 'exited';
  let detail: string | null = null;
  const end = (exitCode: number | null, endSignal: NodeJS.Signals | null): ProcessEnd => ({
    cause,
    detail,
    exitCode,
    signal: endSignal,
    durationMs: Math.round(performance.now() - startedAt),
  });
  let markKilled = (): void => undefined;
  const killed = new Promise<void>((resolve) => {
    markKilled = resolve;
  });
  const stop = (why: ProcessEnd['cause'], sentence: string): void => {
    if (cause !== 'exited') return;
    cause = why;
    detail = sentence;
    launch.kill(child);
    markKilled();
  };
  const output = readOutput(outputFd, onOutput, (error) =>
    stop('cancelled', `What reads the command's output failed: ${error.message}.`),
  );
  const timer = setTimeout(
    () => stop('timed_out', `It ran longer than its time of ${timeoutMs} ms.`),
    Math.min(Math.max(0, timeoutMs), MAX_TIMER_MS),
  );
  const onAbort = (): void => stop('cancelled', CANCELLED);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  else launch.release?.(child);
  const unwatch = launch.watch?.(child, (sentence) => stop('killed', sentence));
  try {
    // Without a way out, a process that the kernel cannot end (a hanging file system) would hold the whole run.
    const overdue = killed.then(() => delay(END_GRACE_MS, null, { ref: false }));
    const exit = await Promise.race([exited, overdue]);
    clearTimeout(timer);
    if (exit !== null && 'error' in exit) {
      cause = 'not_started';
      detail = exit.error.message;
      return end(null, null);
    }
    await Promise.race([launch.settle(child), overdue, delay(END_GRACE_MS, null, { ref: false })]);
    await Promise.race([output.drained(), overdue]);
    if (exit === null) detail = `${detail ?? ''} It has not ended yet: the kernel holds it.`;
    return cause === 'exited' ? end(exit?.code ?? null, exit?.signal ?? null) : end(null, null);
  } finally {
    clearTimeout(timer);
    unwatch?.();
    signal.removeEventListener('abort', onAbort);
    output.close();
  }
}

const CANCELLED = 'The run was cancelled.';

export type Exit = { code: number | null; signal: NodeJS.Signals | null } | { error: Error };

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => resolve({ error }));
  });
}

interface Output {
  /** Every byte that came was taken, or nothing came for a while after the end. */
  drained(): Promise<void>;
  close(): void;
}

function readOutput(fd: number, onOutput: AttendOptions['onOutput'], onFailure: (error: Error) => void): Output {
  let failed = false;
  let pending: Promise<void> | null = null;
  let chunks = 0;
  const fail = (error: unknown): void => {
    failed = true;
    pending = null;
    socket.destroy();
    onFailure(error instanceof Error ? error : new Error(String(error)));
  };
  /** Whether to read on at once. */
  const take = (chunk: Buffer): boolean => {
    chunks++;
    if (failed) return false;
    try {
      const taken = onOutput(chunk);
      if (taken === undefined) return true;
      pending = taken.then(() => {
        pending = null;
        socket.resume();
      }, fail);
    } catch (error) {
      fail(error);
    }
    return false;
  };
  // A buffer of its own for each read would make a long output wait in memory for the garbage collection.
  const bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  const onread: OnReadOpts = { buffer: bytes, callback: (length) => take(bytes.subarray(0, length)) };
  const all: SocketConstructorOpts & { onread: OnReadOpts } = { fd, readable: true, writable: false, onread };
  const socket = new Socket(all);
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  socket.on('error', fail);
  socket.resume();
  return {
    async drained() {
      let over = false;
      const end = ended.then(() => {
        over = true;
      });
      for (let quiet = 0; quiet < QUIET_ROUNDS && !over && !failed; quiet++) {
        const seen = chunks;
        if (pending !== null) await pending;
        else await Promise.race([end, delay(QUIET_ROUND_MS)]);
        // By time alone, an event loop that was held up would look like a silent pipe: after this, it has been read from.
        await immediate();
        if (chunks !== seen || pending !== null) quiet = -1;
      }
      if (pending !== null) await pending;
    },
    close: () => void socket.destroy(),
  };
}
