import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import { cutToFit, toJson } from './cut-to-fit.ts';
import type { Emit, Event, EventBody, EventSink } from './event.ts';
import { toPlainJson } from './plain-json.ts';
import type { Redactor } from './redactor.ts';
import { VOCABULARY } from './vocabulary.ts';

/** Longest line, its newline included (contract, section 2). */
export const MAX_LINE_BYTES = 1_048_576;
/** `prev` of the first event. */
export const FIRST_PREV = '0'.repeat(64);

export interface EventStreamOptions {
  runId: string;
  /** Of a batch: stands on every event, inside the chain. */
  jobId?: string | undefined;
  redactor: Pick<Redactor, 'redact'>;
  sinks: readonly EventSink[];
  clock: Clock;
  /** A sink is gone for good; it gets nothing more, the others go on. Called once for a sink, and must not throw. */
  onSinkFailed(sink: EventSink, error: unknown): void;
}

export interface EventStream {
  /** Numbers, chains and redacts at the time of the call, so that concurrent calls keep their order. Throws after `run.completed`. */
  emit: Emit;
  /** Whether `run.completed` was emitted. */
  isCompleted(): boolean;
  /** Waits for what was emitted, then flushes and closes every sink that is left. */
  close(): Promise<void>;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const lanes = options.sinks.map((sink) => createLane(sink, options.onSinkFailed));
  let seq = 0;
  let prev = FIRST_PREV;
  let completed = false;

  function emit(body: EventBody): Promise<void> {
    if (completed) throw new Error(`bug: ${body.type} was emitted after run.completed`);
    completed = body.type === 'run.completed';
    const { event, json } = render(body, { seq, prev });
    seq++;
    prev = createHash('sha256').update(json).digest('hex');
    return Promise.all(lanes.map((lane) => lane.write(`${json}\n`, event))).then(() => undefined);
  }

  // Not ndjson.stringify: its line end is the platform's and its text is out of reach, but the bytes hashed must be the bytes written.
  function render(body: EventBody, link: { seq: number; prev: string }): { event: Event; json: string } {
    const plain = toPlainJson(body, { redact: options.redactor.redact, vocabulary: VOCABULARY });
    const { type, ...fields } = plain;
    const job = options.jobId === undefined ? {} : { job_id: options.jobId };
    const time = new Date(options.clock.now()).toISOString();
    const envelope = { v: 1, ...link, time, run_id: options.runId, ...job };
    // Rest and spread lose the link between `type` and its fields, which `body` had.
    const event = { type, ...envelope, ...fields } as Event;
    const json = toJson(event);
    if (Buffer.byteLength(json) < MAX_LINE_BYTES) return { event, json };
    const fitted = cutToFit(event, MAX_LINE_BYTES - 1);
    return { event: fitted.value, json: fitted.json };
  }

  return {
    emit,
    isCompleted: () => completed,
    async close() {
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}

interface Lane {
  write(line: string, event: Event): Promise<void>;
  close(): Promise<void>;
}

/** One sink's queue: lines go in one by one and in order; never rejects. */
function createLane(sink: EventSink, onSinkFailed: EventStreamOptions['onSinkFailed']): Lane {
  let last: Promise<void> = Promise.resolve();
  let failed = false;
  const enqueue = (step: () => Promise<void>): Promise<void> => {
    last = last.then(async () => {
      if (failed) return;
      try {
        await step();
      } catch (error) {
        failed = true;
        onSinkFailed(sink, error);
      }
    });
    return last;
  };
  return {
    write: (line, event) => enqueue(() => sink.write(line, event)),
    close: () => enqueue(() => sink.close()),
  };
}
