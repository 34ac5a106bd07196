import { randomBytes } from 'node:crypto';
import { SinkError } from '../errors.ts';
import {
  createEventStream,
  type Emit,
  type EventSink,
  type EventStream,
  type Interruption,
  type Redactor,
  type Result,
  systemClock,
} from '../events/index.ts';
import type { RunSinks } from './request.ts';

/** Time that sinks get after an interruption: a reader that stopped reading must not hold the run. */
const GRACE_MS = 1_000;

/** One run's identity, clock, signals and stream. */
export interface Session {
  readonly runId: string;
  readonly startedAt: Date;
  /** Aborts with the first interruption, and when the thread is lost. */
  readonly interrupt: AbortSignal;
  interruption(): Interruption | null;
  /** Why the run cannot be recorded any more; null while it is. */
  loss(): unknown;
  /** Why stdout takes nothing more, where its reader is still there (a full disk); null while it does. */
  outputLoss(): SinkError | null;
  /** Tells of an output that was not written: as an event, or for `problems` once the last event is out. */
  noteProblem(message: string): Promise<void>;
  /** What came too late for an event. */
  problems(): readonly string[];
  elapsedMs(): number;
  /** Waits for something to be written, but after an interruption not for long; rejects with a SinkError then. */
  withinGrace(step: Promise<void>): Promise<void>;
  nextItemId(): string;
  /** Opens the stream; nothing can be emitted before. `extra` are sinks of the run's own (the thread). */
  open(redactor: Redactor, extra: readonly EventSink[]): EventStream;
  /** Emits on the open stream. */
  emit: Emit;
  /** The result as it was emitted, cut and redacted. */
  emitted(): Result | null;
  close(): Promise<void>;
}

export interface SessionControl {
  session: Session;
  interrupt(why: Interruption): void;
}

/** Gives up on what is not written within the grace after an interruption. */
async function withinGrace(step: Promise<void>, interrupt: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const gone = new Promise<never>((_, reject) => {
    const arm = () => {
      timer = setTimeout(() => reject(new SinkError('a sink', new Error('its reader has stopped reading'))), GRACE_MS);
    };
    if (interrupt.aborted) arm();
    else {
      onAbort = arm;
      interrupt.addEventListener('abort', arm, { once: true });
    }
  });
  try {
    await Promise.race([step, gone]);
  } finally {
    clearTimeout(timer);
    if (onAbort) interrupt.removeEventListener('abort', onAbort);
  }
}

function withGrace(sink: EventSink, interrupt: AbortSignal): EventSink {
  return {
    write: (line, event) => withinGrace(sink.write(line, event), interrupt),
    close: () => withinGrace(sink.close(), interrupt),
  };
}

export function createSession(sinks: RunSinks, jobId?: string): SessionControl {
  const controller = new AbortController();
  const startedAt = new Date();
  const start = performance.now();
  const runId = `r_${Date.now().toString(36)}_${randomBytes(5).toString('hex')}`;
  let why: Interruption | null = null;
  let loss: unknown = null;
  let outputLoss: SinkError | null = null;
  const problems: string[] = [];
  let items = 0;
  let stream: EventStream | null = null;
  let result: Result | null = null;

  function lose(error: unknown): void {
    loss ??= error;
    controller.abort('the thread is lost');
  }

  function interrupt(reason: Interruption): void {
    if (why !== null) return;
    why = reason;
    controller.abort(reason);
  }

  function loseMain(error: unknown): void {
    const failure = error instanceof SinkError ? error : new SinkError('stdout', error);
    if (failure.reason === 'closed') {
      interrupt('SIGPIPE');
    } else if (why === null) {
      // After an interruption it would be the grace that ran out.
      outputLoss = failure;
      controller.abort('stdout takes nothing more');
    }
  }

  const main = sinks.main === null ? null : withGrace(sinks.main, controller.signal);
  const keepResult: EventSink = {
    async write(_line, event) {
      if (event.type === 'run.completed') result = event.result;
    },
    async close() {},
  };

  const session: Session = {
    runId,
    startedAt,
    interrupt: controller.signal,
    interruption: () => why,
    loss: () => loss,
    outputLoss: () => outputLoss,
    async noteProblem(message) {
      if (stream === null || stream.isCompleted()) problems.push(message);
      else await stream.emit({ type: 'error', code: 'output_file', message });
    },
    problems: () => problems,
    elapsedMs: () => performance.now() - start,
    withinGrace: (step) => withinGrace(step, controller.signal),
    nextItemId: () => `item_${items++}`,
    open(redactor, extra) {
      const others = sinks.others.map((sink) => withGrace(sink, controller.signal));
      stream = createEventStream({
        runId,
        jobId,
        redactor,
        clock: systemClock,
        sinks: [keepResult, ...extra, ...others, ...(main === null ? [] : [main])],
        onSinkFailed(sink, error) {
          if (sink === main) loseMain(error);
          // What the thread does not record must not happen.
          else if (extra.includes(sink)) lose(error);
          else void session.noteProblem(error instanceof Error ? error.message : String(error));
        },
      });
      return stream;
    },
    emit(body) {
      if (stream === null) throw new Error(`bug: ${body.type} was emitted before the stream was opened`);
      return stream.emit(body);
    },
    emitted: () => result,
    async close() {
      await stream?.close();
    },
  };
  return { session, interrupt };
}
