import type { JobRecord, Result } from '../events/index.ts';
import { type ShardFile, sameBatch } from './load-records.ts';
import { isDone } from './worst-exit.ts';

export interface Merged {
  /** One a job, by id. */
  records: JobRecord[];
  batch: ShardFile['batch'];
  missing: { shards: number[]; jobs: number };
}

/** Joins the shards of a batch: each job once, by the verdict that counts, and what is not there. */
export function mergeShards(files: readonly (ShardFile & { source: string })[]): Merged {
  let batch: ShardFile['batch'] = null;
  const best = new Map<string, JobRecord>();
  for (const file of files) {
    if (file.batch !== null) batch = sameBatch(batch, file.batch, file.source);
    for (const record of file.records) {
      const known = best.get(record.job_id);
      if (known === undefined || isBetter(record, known)) best.set(record.job_id, record);
    }
  }
  const records = [...best.values()].sort((a, b) => (a.job_id < b.job_id ? -1 : 1));
  return { records, batch, missing: findMissing(files, batch, records.length) };
}

/** A job that is over beats one that is not; of two alike, the later. */
function isBetter(a: JobRecord, b: JobRecord): boolean {
  if (isDone(a) !== isDone(b)) return isDone(a);
  return startOf(a.result) > startOf(b.result);
}

function startOf({ started_at }: Result): number {
  return Date.parse(started_at);
}

function findMissing(
  files: readonly ShardFile[],
  batch: ShardFile['batch'],
  there: number,
): { shards: number[]; jobs: number } {
  const shards = files.flatMap((file) => file.shards);
  const total = Math.max(0, ...shards.map((shard) => shard.total));
  const seen = new Set(shards.filter((shard) => shard.total === total).map((shard) => shard.index));
  const jobs = batch?.jobs ?? there;
  // Shards beyond the number of jobs have none, and leave no line behind.
  const all = Array.from({ length: Math.min(total, jobs) }, (_, at) => at + 1);
  return { shards: all.filter((index) => !seen.has(index)), jobs: Math.max(0, jobs - there) };
}
