import { resolve } from 'node:path';
import {
  type BatchStream,
  createBatchStream,
  createRunSources,
  endByError,
  loadRecords,
  mergeShards,
  rollUp,
} from '../../batch/index.ts';
import { SinkError, UsageError } from '../../errors.ts';
import { createFileSink, INTERRUPTION_EXITS, oneLine, systemClock, toJson } from '../../events/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { handleBatch } from '../handle-batch.ts';
import { requireWritable } from '../output-file.ts';
import { describeFailure, print } from '../print.ts';
import { textOf } from '../read-options.ts';
import { finishReports, openReports } from '../report-folder.ts';
import { requireReadable } from './audit.ts';

/** `belay batch merge FILE…`: results or event streams of shards, joined; says what is missing. */
export const mergeBatch: Handler = (invocation) =>
  handleBatch(invocation, readMerge, async (asked, sinks) => {
    const { io, version, signals } = invocation;
    const { reports } = asked;
    signals.to(() => void Promise.resolve(reports?.discard()).finally(signals.release));
    const main = sinks.main === null ? null : { ...sinks.main, writeRun: async () => undefined };
    const problems: string[] = [];
    let lost: number | null = null;
    const stream = createBatchStream({
      sinks: [...sinks.others, ...(reports === null ? [] : [reports.sink]), ...(main === null ? [] : [main])],
      clock: systemClock,
      interrupt: new AbortController().signal,
      onSinkFailed(sink, error) {
        const isLeft = error instanceof SinkError && error.reason === 'closed';
        if (!isLeft) problems.push(error instanceof Error ? error.message : String(error));
        if (sink === main) lost = isLeft ? INTERRUPTION_EXITS.SIGPIPE : 1;
      },
    });
    const code = await tellMerge(asked, stream, invocation).catch(async (error: unknown) => {
      await print(io.stderr, `belay: ${describeFailure(error)}\n`);
      return endByError(stream, error, version);
    });
    for (const problem of problems) await print(io.stderr, `belay: ${oneLine(problem, 1000)}\n`);
    return finishReports(reports, { code: lost ?? code, io });
  });

/** A first reading finds every fault before anything is written. */
async function readMerge({ options, words, io }: Invocation) {
  if (words.length === 0) throw new UsageError('name what to join: belay batch merge FILE…');
  const cwd = io.cwd();
  if (textOf(options, 'combine') !== null)
    throw new UsageError(
      '--combine needs the jobs and their policies: merge with -o F, then belay batch JOBS.jsonl --results F --patches DIR --combine PATCH',
    );
  for (const word of words) await requireReadable(resolve(cwd, word));
  const given = textOf(options, 'output');
  const output = given === null ? null : resolve(cwd, given);
  if (output !== null) await requireWritable('--output', output);
  const sources = createRunSources();
  const files = await Promise.all(
    words.map(async (word, at) => ({
      source: word,
      ...(await loadRecords(resolve(cwd, word), word, async (_line, runId) => sources.note(runId, at))),
    })),
  );
  const merged = mergeShards(files);
  // Exit 0 would say that all of nothing went well.
  if (merged.batch === null && merged.records.length === 0)
    throw new UsageError(`there is nothing to join: no job has a result in ${words.join(', ')}`);
  const folder = textOf(options, 'reports');
  const reports = folder === null ? null : await openReports(resolve(cwd, folder));
  const durationMs = Math.max(0, ...files.map((file) => file.durationMs ?? 0));
  return { merged, sources, durationMs, output, reports };
}

type Merge = Awaited<ReturnType<typeof readMerge>>;

/** The second reading passes the lines of runs on. */
async function tellMerge(
  { merged, sources, durationMs, output, reports }: Merge,
  stream: BatchStream,
  { options, words, io, version }: Invocation,
): Promise<number> {
  await stream.emit({
    type: 'batch.started',
    belay_version: version,
    batch: merged.batch,
    shard: null,
    jobs: merged.records.map((record) => record.job_id),
    concurrency: 0,
  });
  if (textOf(options, 'events') !== null || reports !== null) {
    for (const [at, word] of words.entries()) {
      await loadRecords(resolve(io.cwd(), word), word, async (line, runId) => {
        if (sources.isFrom(runId, at)) await stream.passOn(line);
      });
    }
  }
  const lines = output === null ? null : await createFileSink(output);
  for (const record of merged.records) {
    await lines?.write(`${toJson(record)}\n`);
    await stream.emit({ type: 'job.completed', ...record, recorded: true });
  }
  await lines?.close();
  const completed = rollUp({
    records: merged.records,
    recorded: merged.records.length,
    batch: merged.batch,
    shard: null,
    durationMs,
    stopped: null,
    combination: null,
    missing: merged.missing,
  });
  await stream.emit(completed);
  await stream.close();
  return completed.exit_code;
}
