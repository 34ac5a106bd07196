import { createHash } from 'node:crypto';
import {
  addUsage,
  type Event,
  type EventLine,
  FIRST_PREV,
  NO_USAGE,
  type Outcome,
  type Usage,
} from '../events/index.ts';
import { createSeenIds } from './seen-ids.ts';

export interface AuditFault {
  /** From 1. A fault of the end is told at the last line. */
  line: number;
  reason: string;
}

export interface AuditReport {
  ok: boolean;
  /** The first hundred, in the order of the lines. */
  faults: AuditFault[];
  /** Lines that are events. */
  events: number;
  /** What the (last) terminal event says; null without one. */
  outcome: Outcome | null;
}

/** A damaged stream has a fault in every line; a hundred tell enough. */
const MAX_FAULTS = 100;
/** A run has a handful. */
const MAX_OPEN = 1_000;

/**
 * Checks a stream line by line in bounded memory: schema, `seq` without gaps, hash chain, one run, `run.started` first and exactly one
 * `run.completed` last, every started item closed once, usage as the sum of the turns. With `severalRuns`, what a thread keeps: runs
 * one after the other, of which all but the last may have been killed. The chain has no key: it shows damage, not a forger.
 */
export async function auditEvents(
  lines: AsyncIterable<EventLine> | Iterable<EventLine>,
  { severalRuns = false }: { severalRuns?: boolean } = {},
): Promise<AuditReport> {
  const faults: AuditFault[] = [];
  let events = 0;
  let last = 0;
  let outcome: Outcome | null = null;
  let run = createRunAudit();
  for await (const line of lines) {
    last = line.lineNumber;
    const report = (reason: string) => {
      if (faults.length < MAX_FAULTS) faults.push({ line: line.lineNumber, reason });
    };
    if (line.kind === 'fault') {
      report(line.message);
      run.skip(line.line);
      continue;
    }
    events++;
    const { event } = line;
    if (severalRuns && event.type === 'run.started' && event.seq === 0) run = createRunAudit();
    run.check(line.line, event, report);
    if (event.type === 'run.completed') outcome = event.result.outcome;
  }
  run.finish((reason) => faults.push({ line: last, reason }));
  return { ok: faults.length === 0, faults, events, outcome };
}

type Report = (reason: string) => void;

/** The lines of one run, told one by one. */
export interface RunAudit {
  check(line: string, event: Event, report: Report): void;
  /** A line that is no event: its place in the chain counts, where its text is known. */
  skip(line: string | undefined): void;
  finish(report: Report): void;
}

export function createRunAudit(): RunAudit {
  let seq = 0;
  let prev: string | null = FIRST_PREV;
  let runId: string | null = null;
  let completed = false;
  let started = false;
  const items = createItemAudit();
  const usage = createUsageAudit();

  function checkEnvelope(event: Event, report: Report): void {
    if (event.seq !== seq) report(`seq is ${event.seq}, not ${seq}`);
    if (prev !== null && event.prev !== prev) report('prev is not the sha-256 of the line before');
    if (event.run_id !== (runId ?? event.run_id)) report('run_id differs from the one before');
    if (completed) report(`${event.type} after run.completed`);
    if (!started && event.type !== 'run.started') report(`the first event is ${event.type}, not run.started`);
    if (started && event.type === 'run.started') report('a second run.started');
  }

  return {
    check(line: string, event: Event, report: Report): void {
      checkEnvelope(event, report);
      // A gap is told once: the count goes on from what is there.
      seq = event.seq + 1;
      prev = createHash('sha256').update(line).digest('hex');
      runId ??= event.run_id;
      started = true;
      completed ||= event.type === 'run.completed';
      items.check(event, report);
      usage.check(event, report);
    },
    skip(line: string | undefined): void {
      seq++;
      prev = line === undefined ? null : createHash('sha256').update(line).digest('hex');
    },
    finish(report: Report): void {
      if (!started) report('there is no event');
      else if (!completed) report('there is no run.completed: the stream was cut off');
      items.finish(report);
    },
  };
}

function createItemAudit() {
  const open = new Set<string>();
  const closed = createSeenIds();
  let isTold = false;
  function start(id: string, report: Report): void {
    if (open.size < MAX_OPEN) {
      open.add(id);
      return;
    }
    if (!isTold) report(`more than ${MAX_OPEN} items are open at once`);
    isTold = true;
  }
  return {
    check(event: Event, report: Report): void {
      if (event.type !== 'item.started' && event.type !== 'item.updated' && event.type !== 'item.completed') return;
      const { id, status } = event.item;
      if (event.type === 'item.updated') {
        if (!open.has(id)) report(`${id} is updated, but not open`);
        return;
      }
      if (closed.has(id) || (event.type === 'item.started' && open.has(id))) report(`${id} is used twice`);
      if (event.type === 'item.started') {
        start(id, report);
        return;
      }
      open.delete(id);
      closed.add(id);
      if (status === 'in_progress') report(`${id} is completed, but in progress`);
    },
    finish(report: Report): void {
      if (open.size > 0) report(`started, but never completed: ${[...open].slice(0, 10).join(', ')}`);
    },
  };
}

/** Totals count the whole thread: those of a resumed run begin where the run before ended. */
function createUsageAudit() {
  let total: Usage | null = null;
  let resumed = false;
  return {
    check(event: Event, report: Report): void {
      if (event.type === 'run.started') resumed = event.resumed_from !== undefined;
      if (event.type === 'turn.completed' || event.type === 'turn.failed') {
        const sum = addUsage(total ?? NO_USAGE, event.usage);
        if (!(resumed && total === null) && !isSame(event.total_usage, sum))
          report('total_usage is not the sum of the turns');
        total = event.total_usage;
      }
      if (event.type === 'run.completed') {
        const expected = total ?? (resumed ? event.result.usage : NO_USAGE);
        if (!isSame(event.result.usage, expected)) report('the usage of the result is not the sum of the turns');
      }
    },
  };
}

function isSame(a: Usage, b: Usage): boolean {
  return (
    a.input_tokens === b.input_tokens &&
    a.cached_input_tokens === b.cached_input_tokens &&
    a.output_tokens === b.output_tokens &&
    a.reasoning_tokens === b.reasoning_tokens &&
    a.requests === b.requests &&
    a.retries === b.retries
  );
}
