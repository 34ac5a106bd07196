import { UsageError } from '../errors.ts';
import { BatchEvent, JobRecord, readJsonLines, type Shard } from '../events/index.ts';

/** What one file of a batch says: results of `--results`, or the event stream of `belay batch`. */
export interface ShardFile {
  records: JobRecord[];
  /** What is known of the batch that the file is from; null where nothing in it tells. */
  batch: NonNullable<JobRecord['batch']> | null;
  shards: Shard[];
  /** Milliseconds of the whole shard; null when it did not end, or the file does not tell. */
  durationMs: number | null;
}

const MOST_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Reads one file. A last line that was cut off is no fault: its writer was killed. Throws UsageError for a line that is neither a result
 * nor an event. `onRunLine` gets the lines of runs, with the id of the run.
 */
export async function loadRecords(
  path: string,
  source: string,
  onRunLine: (line: string, runId: string) => Promise<void>,
): Promise<ShardFile> {
  const file: ShardFile = { records: [], batch: null, shards: [], durationMs: null };
  for await (const line of readJsonLines(path, { maxLineBytes: MOST_LINE_BYTES })) {
    const at = `${source}:${line.lineNumber}`;
    if (line.kind === 'fault') {
      if (line.reason === 'torn') continue;
      throw new UsageError(`${at}: ${line.message}`);
    }
    const { type } = line.value;
    if (type === undefined) take(file, parse(JobRecord, line.value, at), at);
    else if (type === 'job.completed' || type === 'batch.started' || type === 'batch.completed')
      takeEvent(file, parse(BatchEvent, line.value, at), at);
    else await onRunLine(line.line, String(line.value['run_id']));
  }
  return file;
}

function takeEvent(file: ShardFile, event: BatchEvent, at: string): void {
  if (event.batch) file.batch = sameBatch(file.batch, event.batch, at);
  if (event.shard) note(file, event.shard);
  if (event.type === 'batch.completed') file.durationMs = event.duration_ms;
  if (event.type !== 'job.completed') return;
  const { job_id, result, digest, batch, shard, cut_short, runs } = event;
  const known = { digest, batch, shard, cut_short, runs };
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  take(file, { job_id, result, ...given }, at);
}

function take(file: ShardFile, record: JobRecord, at: string): void {
  if (record.batch !== undefined) file.batch = sameBatch(file.batch, record.batch, at);
  if (record.shard !== undefined) note(file, record.shard);
  file.records.push(record);
}

function note(file: ShardFile, shard: Shard): void {
  if (!file.shards.some(({ index, total }) => index === shard.index && total === shard.total)) file.shards.push(shard);
}

/** Results of two batches do not add up to one. */
export function sameBatch(
  known: ShardFile['batch'],
  other: NonNullable<ShardFile['batch']>,
  at: string,
): NonNullable<ShardFile['batch']> {
  if (known === null || known.sha256 === other.sha256) return other;
  throw new UsageError(`${at}: this is of another batch (other jobs, policy or commit) than what came before it`);
}

function parse<T>(
  schema: { safeParse(value: unknown): { success: boolean; data?: T } },
  value: unknown,
  at: string,
): T {
  const { data } = schema.safeParse(value);
  if (data !== undefined) return data;
  throw new UsageError(`${at}: the line is no result of a batch and no event`);
}
