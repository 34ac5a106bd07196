import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import type { JobRecord } from '../events/index.ts';
import { acquireLock } from '../thread/index.ts';
import type { BatchStops } from './batch-stops.ts';
import type { BatchStream } from './batch-stream.ts';
import type { PlannedJob } from './planned-job.ts';
import type { RecordStore } from './record-store.ts';
import { type JobEnd, type JobRunOptions, type JobRunPorts, runJob, unstarted } from './run-job.ts';

export interface AllJobs {
  jobs: readonly PlannedJob[];
  about: Pick<JobRecord, 'batch' | 'shard'>;
  concurrency: number;
  /** How often a job is done again whose model failed in a way that may pass. */
  retries: number;
  options: JobRunOptions;
  ports: JobRunPorts;
  records: RecordStore;
  stops: BatchStops;
  stream: BatchStream;
  /** belay itself failed: what still runs is to be ended. */
  onFailed(): void;
}

/** A job that is over, this time or an earlier one. */
export interface EndedJob {
  job: PlannedJob;
  record: JobRecord;
  recorded: boolean;
}

interface Queued {
  job: PlannedJob;
  /** Of earlier tries. */
  runs: JobEnd['runs'];
  tries: number;
}

/**
 * Every job once: taken from the records, or run. A job whose model failed in a way that may pass goes to the end of the queue. In the
 * order of the jobs. Where belay itself fails, nothing more is begun, and it rejects when what was begun has ended and is told.
 */
export async function runAll(all: AllJobs): Promise<EndedJob[]> {
  const queue: Queued[] = all.jobs.map((job) => ({ job, runs: [], tries: 0 }));
  const ended = new Map<string, EndedJob>();
  const failures: unknown[] = [];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined && failures.length === 0; next = queue.shift()) {
      const end = await runNext(next, all);
      if ('tries' in end) queue.push(end);
      else ended.set(end.job.id, end);
    }
  };
  const fail = (error: unknown) => {
    failures.push(error);
    all.onFailed();
  };
  await Promise.all(Array.from({ length: Math.min(all.concurrency, all.jobs.length) }, () => work().catch(fail)));
  if (failures.length > 0) throw failures[0];
  return all.jobs.flatMap((job) => ended.get(job.id) ?? []);
}

async function runNext(queued: Queued, all: AllJobs): Promise<EndedJob | Queued> {
  const { job } = queued;
  const { options, ports, records, stops } = all;
  const known = await records.find(job.digest);
  if (known !== null) return tell({ job, record: known, recorded: true }, all);
  const locks = join(options.stateDir, 'batch', 'locks');
  await mkdir(locks, { recursive: true, mode: 0o700 });
  const lock = await acquireLock({ path: join(locks, `${job.digest}.lock`), owner: job.id });
  if (lock.kind === 'held') {
    const reason = `another batch does this job (process ${lock.by.pid} on ${lock.by.host})`;
    const result = unstarted(job, { outcome: 'busy', reason, endedBy: 'busy', interruption: null });
    return tell({ job, record: recordOf(job, { result, runs: [], cutShort: false }, all), recorded: false }, all);
  }
  try {
    // Somebody may have ended it between the two looks.
    const late = await records.find(job.digest);
    if (late !== null) return tell({ job, record: late, recorded: true }, all);
    const end = await runJob(job, options, ports);
    const runs = [...queued.runs, ...end.runs];
    const { outcome, error } = end.result;
    const mayPass = outcome === 'model_failed' && error?.retryable === true;
    if (mayPass && queued.tries < all.retries && stops.why() === null) return { job, runs, tries: queued.tries + 1 };
    if (end.runs.length > 0 || !end.cutShort) stops.note(end.result);
    return await tell({ job, record: recordOf(job, { ...end, runs }, all), recorded: false }, all);
  } finally {
    await lock.release();
  }
}

/** On disk first, told second: what a reader has seen is never done again. Where the disk takes nothing more, nothing more is started. */
async function tell(end: EndedJob, { records, stream, stops }: AllJobs): Promise<EndedJob> {
  try {
    await records.put(end.record);
  } catch (error) {
    if (!(error instanceof Error) || codeOf(error) === null) throw error;
    stops.stop({ kind: 'results', reason: `the result of ${end.job.id} cannot be kept: ${error.message}` });
  }
  await stream.emit({ type: 'job.completed', ...end.record, recorded: end.recorded });
  return end;
}

function recordOf(job: PlannedJob, end: JobEnd, { about }: AllJobs): JobRecord {
  const { result, runs, cutShort } = end;
  return { job_id: job.id, result, digest: job.digest, ...about, ...(cutShort ? { cut_short: true } : {}), runs };
}
