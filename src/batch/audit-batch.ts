import { createHash } from 'node:crypto';
import { BatchEvent, type Event, FIRST_PREV, type JsonLine, type Outcome, parseEventLine } from '../events/index.ts';
import { type AuditFault, createRunAudit, type RunAudit } from '../thread/index.ts';

export interface BatchAudit {
  ok: boolean;
  /** The first hundred. */
  faults: AuditFault[];
  events: number;
  jobs: number;
  runs: number;
  /** What `batch.completed` says; null without one. */
  exitCode: number | null;
}

const MAX_FAULTS = 100;

interface SeenRun {
  audit: RunAudit;
  outcome: Outcome | null;
}

/**
 * Checks the stream of a batch: every run by itself as `auditEvents` does, the batch's own events as one chain more, `batch.completed`
 * exactly once and last, and that a job's verdict is that of its run. In memory bounded by the number of runs.
 */
export async function auditBatch(lines: AsyncIterable<JsonLine>): Promise<BatchAudit> {
  const faults: AuditFault[] = [];
  const runs = new Map<string, SeenRun>();
  const chain = createChain();
  let at = 0;
  let events = 0;
  const report = (reason: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ line: at, reason });
  };
  for await (const line of lines) {
    at = line.lineNumber;
    const own = line.kind === 'line' ? BatchEvent.safeParse(line.value).data : undefined;
    const parsed = own === undefined ? parseEventLine(line) : null;
    if (chain.isOver()) report('a line after batch.completed');
    if (own !== undefined && line.kind === 'line') {
      events++;
      chain.check(line.line, own, report);
      if (own.type === 'job.completed' && !own.recorded) compareJob(own, runs, report);
    } else if (parsed?.kind === 'event') {
      events++;
      checkRun(parsed, runs, report);
    } else if (parsed !== null) report(parsed.kind === 'fault' ? parsed.message : 'the line is no event');
  }
  for (const [id, { audit }] of runs) audit.finish((reason) => report(`run ${id}: ${reason}`));
  chain.finish(report);
  return { ok: faults.length === 0, faults, events, runs: runs.size, ...chain.seen() };
}

function checkRun(
  { line, event }: { line: string; event: Event },
  runs: Map<string, SeenRun>,
  report: (reason: string) => void,
): void {
  const { run_id: id } = event;
  const run = runs.get(id) ?? { audit: createRunAudit(), outcome: null };
  runs.set(id, run);
  run.audit.check(line, event, (reason) => report(`run ${id}: ${reason}`));
  if (event.type === 'run.completed') run.outcome = event.result.outcome;
}

/** A run whose process was lost has no end of its own: the batch says so in its place. */
function compareJob(
  job: Extract<BatchEvent, { type: 'job.completed' }>,
  seen: Map<string, SeenRun>,
  report: (reason: string) => void,
): void {
  for (const run of job.runs ?? []) {
    const found = seen.get(run.run_id);
    const isLost = run.outcome === 'internal_error' || run.outcome === 'interrupted';
    if (isLost && found?.outcome === null) seen.delete(run.run_id);
    else if (isLost && found === undefined) continue;
    else if (found?.outcome !== run.outcome)
      report(`job ${job.job_id}: run ${run.run_id} ended as ${found?.outcome ?? 'nothing'}, not ${run.outcome}`);
  }
  const { run_id: kept, outcome } = job.result;
  const own = job.runs?.find((run) => run.run_id === kept);
  if (kept !== '' && own?.outcome !== outcome) report(`job ${job.job_id}: its verdict is not that of its run ${kept}`);
}

function createChain() {
  let seq = 0;
  let prev = FIRST_PREV;
  let jobs = 0;
  let exitCode: number | null = null;
  let batchId: string | null = null;
  return {
    isOver: () => exitCode !== null,
    seen: () => ({ jobs, exitCode }),
    check(line: string, event: BatchEvent, report: (reason: string) => void): void {
      if (event.seq !== seq) report(`seq of the batch is ${event.seq}, not ${seq}`);
      if (event.prev !== prev) report("prev is not the sha-256 of the batch's event before");
      if (event.run_id !== (batchId ?? event.run_id)) report('the batch is another one than before');
      batchId ??= event.run_id;
      seq = event.seq + 1;
      prev = createHash('sha256').update(line).digest('hex');
      if (event.type === 'job.completed') jobs++;
      if (event.type === 'batch.completed') exitCode = event.exit_code;
    },
    finish(report: (reason: string) => void): void {
      if (exitCode === null) report('there is no batch.completed: the stream was cut off');
    },
  };
}
