import { createHash, randomBytes } from 'node:crypto';
import {
  type BatchEvent,
  type BatchEventBody,
  type Clock,
  cutToFit,
  FIRST_PREV,
  MAX_LINE_BYTES,
  toJson,
} from '../events/index.ts';

/** Where the lines of a batch go. Rejects when it is gone for good. */
export interface BatchSink {
  /** A line of a run, without its newline. */
  writeRun(line: string): Promise<void>;
  writeBatch(line: string, event: BatchEvent): Promise<void>;
  close(): Promise<void>;
}

export interface BatchStreamOptions {
  sinks: readonly BatchSink[];
  clock: Clock;
  /** Aborts when the batch is interrupted: a reader that has stopped reading must not hold it. */
  interrupt: AbortSignal;
  /** Called once for a sink that is gone; the others go on. */
  onSinkFailed(sink: BatchSink, error: unknown): void;
}

/** One writer of whole lines: what the runs say, as they said it, and the batch's own events between. Nothing follows `batch.completed`. */
export interface BatchStream {
  readonly batchId: string;
  passOn(line: string): Promise<void>;
  emit(body: BatchEventBody): Promise<void>;
  /** What the batch's own events have said so far. */
  told(): Told;
  close(): Promise<void>;
}

export interface Told {
  /** null before `batch.started`. */
  started: Extract<BatchEventBody, { type: 'batch.started' }> | null;
  jobs: readonly Extract<BatchEventBody, { type: 'job.completed' }>[];
  /** Since `batch.started`. */
  durationMs: number;
}

/** Time that a sink gets for a line once the batch is interrupted. */
const GRACE_MS = 1_000;

export function createBatchStream(options: BatchStreamOptions): BatchStream {
  const { sinks, clock, interrupt } = options;
  const batchId = `b_${clock.now().toString(36)}_${randomBytes(5).toString('hex')}`;
  const lanes = sinks.map((sink) => createLane(sink, interrupt, options.onSinkFailed));
  const toAll = async (step: (sink: BatchSink) => Promise<void>) => {
    await Promise.all(lanes.map((lane) => lane(step)));
  };
  let seq = 0;
  let prev = FIRST_PREV;
  let isOver = false;
  let started: Told['started'] = null;
  let startedMs = clock.now();
  const jobs: Extract<BatchEventBody, { type: 'job.completed' }>[] = [];
  return {
    batchId,
    told: () => ({ started, jobs, durationMs: clock.now() - startedMs }),
    passOn: async (line) => {
      if (!isOver) await toAll((sink) => sink.writeRun(line));
    },
    async emit(body) {
      if (isOver) return;
      isOver = body.type === 'batch.completed';
      if (body.type === 'job.completed') jobs.push(body);
      if (body.type === 'batch.started') {
        started = body;
        startedMs = clock.now();
      }
      const envelope = { v: 1, seq, time: new Date(clock.now()).toISOString(), run_id: batchId, prev };
      const { type, ...fields } = body;
      // Rest and spread lose the link between `type` and its fields, which `body` had.
      const event = { type, ...envelope, ...fields } as BatchEvent;
      const whole = { value: event, json: toJson(event) };
      const fitted = Buffer.byteLength(whole.json) < MAX_LINE_BYTES ? whole : cutToFit(event, MAX_LINE_BYTES - 1);
      seq++;
      prev = createHash('sha256').update(fitted.json).digest('hex');
      await toAll((sink) => sink.writeBatch(fitted.json, fitted.value));
    },
    close: () => toAll((sink) => sink.close()),
  };
}

type Lane = (step: (sink: BatchSink) => Promise<void>) => Promise<void>;

/** Steps of one sink, in order; never rejects. */
function createLane(sink: BatchSink, interrupt: AbortSignal, onFailed: BatchStreamOptions['onSinkFailed']): Lane {
  let last: Promise<void> = Promise.resolve();
  let failed = false;
  return (step) => {
    last = last.then(async () => {
      if (failed) return;
      try {
        await withGrace(step(sink), interrupt);
      } catch (error) {
        failed = true;
        onFailed(sink, error);
      }
    });
    return last;
  };
}

async function withGrace(step: Promise<void>, interrupt: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let arm: (() => void) | undefined;
  const gone = new Promise<never>((_, reject) => {
    arm = () => {
      timer = setTimeout(() => reject(new Error('its reader has stopped reading')), GRACE_MS);
    };
    if (interrupt.aborted) arm();
    else interrupt.addEventListener('abort', arm, { once: true });
  });
  try {
    await Promise.race([step, gone]);
  } finally {
    clearTimeout(timer);
    if (arm) interrupt.removeEventListener('abort', arm);
  }
}
