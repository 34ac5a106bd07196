import { createHash } from 'node:crypto';
import { rollUp } from '../batch/index.ts';
import {
  BatchEvent,
  type BatchMeasures,
  type Combination,
  FIRST_PREV,
  JobRecord,
  type JsonLine,
  Outcome,
} from '../events/index.ts';
import { keepEnds } from './keep-ends.ts';

/** One of several runs of a job: a repetition, or an alternative. */
export interface RunRow {
  runId: string;
  outcome: Outcome;
  isKept: boolean;
  lines: number;
  costUsd: number | null;
  durationMs: number;
}

export interface JobRow {
  jobId: string;
  /** Of the run that was kept; empty where none was started. */
  runId: string;
  runs: readonly RunRow[];
  outcome: Outcome;
  verified: boolean;
  reason: string;
  failing: string[];
  files: number;
  costUsd: number | null;
  durationMs: number;
}

/** A batch as its events or results tell it. Bounded by the number of its jobs. */
export interface BatchView {
  source: string;
  faults: { line: number; reason: string }[];
  jobs: JobRow[];
  outcomes: readonly (readonly [Outcome, number])[];
  measures: BatchMeasures;
  costUsd: number | null;
  /** null: the batch did not end, or only its results are here. */
  durationMs: number | null;
  /** Of the first run. */
  startedAt: string | null;
  stopped: string | null;
  missing: { shards: number[]; jobs: number } | null;
  combination: Combination | null;
}

const MAX_FAULTS = 20;
const MAX_TEXT = 400;
const OWN = new Set(['batch.started', 'job.completed', 'batch.completed']);

/** Whether a first line is that of a batch: its events, what `batch merge` prints, or `--results`. */
export function isBatchLine(value: Readonly<Record<string, unknown>>): boolean {
  return OWN.has(String(value['type'])) || (value['type'] === undefined && typeof value['job_id'] === 'string');
}

/** One pass over the events or the results of a batch; the lines of its runs are passed over. */
export async function foldBatch(lines: AsyncIterable<JsonLine>, source: string): Promise<BatchView> {
  const records = new Map<string, JobRecord>();
  const faults: BatchView['faults'] = [];
  let ended: Extract<BatchEvent, { type: 'batch.completed' }> | null = null;
  let hasEvents = false;
  let prev = FIRST_PREV;
  let last = 0;
  for await (const line of lines) {
    last = line.lineNumber;
    const report = (reason: string) => {
      if (faults.length < MAX_FAULTS) faults.push({ line: last, reason });
    };
    if (line.kind === 'fault') {
      report(line.message);
      continue;
    }
    if (!isBatchLine(line.value)) continue;
    const parsed =
      line.value['type'] === undefined ? JobRecord.safeParse(line.value) : BatchEvent.safeParse(line.value);
    if (!parsed.success) {
      report('the line does not satisfy the schema');
      continue;
    }
    const told = parsed.data;
    if ('type' in told) {
      hasEvents = true;
      if (told.prev !== prev) report("the batch's own chain is broken: prev is not the sha-256 of its line before");
      prev = createHash('sha256').update(line.line).digest('hex');
      if (told.type === 'batch.completed') ended = told;
    }
    if ('result' in told) records.set(told.job_id, slim(told));
  }
  if (hasEvents && ended === null)
    faults.push({ line: last, reason: 'there is no batch.completed: the stream was cut off' });
  return view({ source, faults, records: [...records.values()], ended });
}

/** What the measures and the table need: texts of results may be a megabyte each. */
function slim({ job_id, result, runs }: JobRecord): JobRecord {
  return {
    job_id,
    result: {
      ...result,
      reason: keepEnds(result.reason, MAX_TEXT).text,
      message: '',
      output: undefined,
      goal: null,
      risks: [],
      review: [],
      checks: result.checks.map((check) => ({ ...check, command: '', output_tail: '', reason: null })),
      denials: result.denials.map(() => ({ action: '', rule: '', reason: '' })),
    },
    ...(runs === undefined ? {} : { runs }),
  };
}

function view(about: {
  source: string;
  faults: BatchView['faults'];
  records: readonly JobRecord[];
  ended: Extract<BatchEvent, { type: 'batch.completed' }> | null;
}): BatchView {
  const { source, faults, records, ended } = about;
  const nothing = {
    recorded: 0,
    batch: null,
    shard: null,
    durationMs: 0,
    stopped: null,
    combination: null,
    missing: null,
  };
  const rolled = ended ?? rollUp({ ...nothing, records });
  return {
    source,
    faults,
    jobs: records.map(({ job_id, result, runs }) => ({
      jobId: job_id,
      runId: result.run_id,
      runs: (runs ?? []).map((run) => ({
        runId: run.run_id,
        outcome: run.outcome,
        isKept: run.run_id === result.run_id,
        lines: run.changed_lines,
        costUsd: run.cost_usd,
        durationMs: run.duration_ms,
      })),
      outcome: result.outcome,
      verified: result.verified,
      reason: result.reason,
      failing: result.checks
        .filter((check) => check.required && (check.final === 'failed' || check.final === 'timed_out'))
        .map((check) => check.name),
      files: result.changes.files.length,
      costUsd: result.cost_usd,
      durationMs: result.duration_ms,
    })),
    outcomes: Outcome.options.flatMap((outcome) => {
      const count = rolled.outcomes[outcome] ?? 0;
      return count === 0 ? [] : [[outcome, count] as const];
    }),
    measures: rolled.measures,
    costUsd: rolled.cost_usd,
    durationMs: ended?.duration_ms ?? null,
    startedAt: records.map(({ result }) => result.started_at).sort()[0] ?? null,
    stopped: rolled.stopped?.reason ?? null,
    missing: rolled.missing,
    combination: rolled.combination,
  };
}
