import { resolve } from 'node:path';
import type { BatchSink, BatchSinks } from '../batch/index.ts';
import {
  type BatchEvent,
  createFileSink,
  createStreamWriter,
  createTextWriter,
  oneLine,
  renderCost,
  renderDuration,
  type StreamWriter,
} from '../events/index.ts';
import type { Io } from './command.ts';
import { formatOf } from './open-streams.ts';
import { type GivenOptions, textOf } from './read-options.ts';

/** Where the lines of a batch go: stdout in the form asked for, `--events`, and one line a job for people on stderr. */
export async function openBatchSinks(options: GivenOptions, io: Io): Promise<BatchSinks> {
  const file = textOf(options, 'events');
  const others: BatchSink[] = [];
  if (file !== null) {
    const lines = await createFileSink(resolve(io.cwd(), file));
    others.push({
      writeRun: (line) => lines.write(`${line}\n`),
      writeBatch: (line) => lines.write(`${line}\n`),
      close: () => lines.close(),
    });
  }
  if (formatOf(options, io) === 'jsonl') others.push(createProse(createTextWriter(io.stderr, 'stderr')));
  return { ...batchStdoutOnly(options, io), others };
}

/** For a batch that is refused before its other streams are known to work. */
export function batchStdoutOnly(options: GivenOptions, io: Io): BatchSinks {
  const format = formatOf(options, io);
  if (format === 'quiet') return { main: null, others: [] };
  const main =
    format === 'text'
      ? createProse(createTextWriter(io.stdout, 'stdout'))
      : createLines(createStreamWriter(io.stdout, 'stdout'));
  return { main, others: [] };
}

/** Each line in one write: lines of different runs never mix. */
function createLines(writer: StreamWriter): BatchSink {
  return {
    writeRun: (line) => writer.write(`${line}\n`),
    writeBatch: (line) => writer.write(`${line}\n`),
    close: () => writer.flush(),
  };
}

function createProse(writer: StreamWriter): BatchSink {
  const state = { jobs: 0, ended: 0 };
  return {
    writeRun: async () => undefined,
    async writeBatch(_line, event) {
      const text = renderBatchEvent(event, state);
      if (text !== null) await writer.write(text);
    },
    close: () => writer.flush(),
  };
}

/** For people: a line a job, and the roll-up. Nothing of a batch that was refused: stderr says why. */
export function renderBatchEvent(event: BatchEvent, state: { jobs: number; ended: number }): string | null {
  switch (event.type) {
    case 'batch.started':
      state.jobs = event.jobs.length;
      if (event.concurrency === 0 && event.jobs.length === 0) return null;
      return event.concurrency === 0
        ? `merge: ${event.jobs.length} jobs\n`
        : `batch: ${event.jobs.length} of ${event.batch?.jobs ?? 0} jobs, ${event.concurrency} at a time\n`;
    case 'job.completed': {
      const { result, recorded, job_id } = event;
      const time = recorded ? 'done before' : renderDuration(result.duration_ms);
      const why = result.outcome === 'verified' ? '' : `  ${oneLine(result.reason, 200)}`;
      return `[${++state.ended}/${state.jobs}] ${job_id}  ${result.outcome}  ${time}${why}\n`;
    }
    case 'batch.completed':
      return event.stopped?.kind === 'usage_error' ? null : renderRollUp(event);
  }
}

function renderRollUp(event: Extract<BatchEvent, { type: 'batch.completed' }>): string {
  const { measures, outcomes, stopped, combination, missing } = event;
  const counted = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const percent = (share: number | null) => (share === null ? '–' : `${Math.round(share * 100)} %`);
  const lines = [
    `batch: ${counted.join(', ') || 'no jobs'}; ${renderDuration(event.duration_ms)}, ${renderCost(event.cost_usd)}`,
    `  verified ${percent(measures.completion_rate)}, checks passed ${percent(measures.checks.pass_rate)}, ${measures.checks.regressed} regressed, ${measures.denials} denials`,
    ...(measures.per_verified_job.cost_usd === null
      ? []
      : [`  a verified job costs ${renderCost(measures.per_verified_job.cost_usd)}`]),
    ...(stopped === null ? [] : [`  stopped: ${oneLine(stopped.reason, 300)}`]),
    ...(combination === null ? [] : renderCombination(combination)),
    ...(missing === null || (missing.shards.length === 0 && missing.jobs === 0)
      ? []
      : [`  missing: shards ${missing.shards.join(', ') || 'none'}, ${missing.jobs} jobs`]),
  ];
  return `${lines.join('\n')}\n`;
}

function renderCombination(combination: NonNullable<Extract<BatchEvent, { type: 'batch.completed' }>['combination']>) {
  const { jobs, outcome, patch, left_out } = combination;
  return [
    `  together: ${jobs.length} jobs, ${outcome ?? 'not verified'}${patch === null ? '' : `, ${patch}`}`,
    ...left_out.map(
      ({ job_id, reason, with: others }) =>
        `  left out: ${job_id} (${reason.replaceAll('_', ' ')}${others.length === 0 ? '' : `, beside ${others.join(', ')}`})`,
    ),
  ];
}
