import { resolve } from 'node:path';
import { createBatchStream, createRunSources, loadRecords, mergeShards, rollUp } from '../../batch/index.ts';
import { UsageError } from '../../errors.ts';
import { createFileSink, systemClock, toJson } from '../../events/index.ts';
import { openBatchSinks } from '../batch-sinks.ts';
import type { Handler } from '../command.ts';
import { requireWritable } from '../output-file.ts';
import { textOf } from '../read-options.ts';
import { finishReports, openReports } from '../report-folder.ts';
import { requireReadable } from './audit.ts';

/** `belay batch merge FILE…`: results or event streams of shards, joined; says what is missing. */
export const mergeBatch: Handler = async ({ options, words, io, version }) => {
  if (words.length === 0) throw new UsageError('name what to join: belay batch merge FILE…');
  const cwd = io.cwd();
  if (textOf(options, 'combine') !== null)
    throw new UsageError(
      '--combine needs the jobs and their policies: merge with -o F, then belay batch JOBS.jsonl --results F --patches DIR --combine PATCH',
    );
  for (const word of words) await requireReadable(resolve(cwd, word));
  const output = textOf(options, 'output');
  if (output !== null) await requireWritable('--output', resolve(cwd, output));
  // A first reading finds every fault before anything is written; the second passes the lines of runs on.
  const sources = createRunSources();
  const files = await Promise.all(
    words.map(async (word, at) => ({
      source: word,
      ...(await loadRecords(resolve(cwd, word), word, async (_line, runId) => sources.note(runId, at))),
    })),
  );
  const merged = mergeShards(files);
  const folder = textOf(options, 'reports');
  const reports = folder === null ? null : await openReports(resolve(cwd, folder));
  const sinks = await openBatchSinks(options, io, reports);
  const stream = createBatchStream({
    sinks: [...sinks.others, ...(sinks.main === null ? [] : [{ ...sinks.main, writeRun: async () => undefined }])],
    clock: systemClock,
    interrupt: new AbortController().signal,
    onSinkFailed: () => undefined,
  });
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
      await loadRecords(resolve(cwd, word), word, async (line, runId) => {
        if (sources.isFrom(runId, at)) await stream.passOn(line);
      });
    }
  }
  const lines = output === null ? null : await createFileSink(resolve(cwd, output));
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
    durationMs: Math.max(0, ...files.map((file) => file.durationMs ?? 0)),
    stopped: null,
    combination: null,
    missing: merged.missing,
  });
  await stream.emit(completed);
  await stream.close();
  return finishReports(reports, { code: completed.exit_code, io });
};
