import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SinkError } from '../errors.ts';
import { type Clock, INTERRUPTION_EXITS, type Interruption, type Shard } from '../events/index.ts';
import { unusableState } from '../thread/index.ts';
import { isManifestOrLock, type TreeSource } from '../workspace/index.ts';
import { type BatchLimits, createBatchBudget } from './batch-budget.ts';
import { createBatchStops } from './batch-stops.ts';
import { type BatchSink, type BatchStream, createBatchStream } from './batch-stream.ts';
import { combineJobs } from './combine-jobs.ts';
import { openJobTrees } from './job-trees.ts';
import { digestBatch, type PlannedJob } from './planned-job.ts';
import { openRecords } from './record-store.ts';
import { endByError, stopOf } from './refuse-batch.ts';
import { rollUp } from './roll-up.ts';
import { runAll } from './run-all.ts';
import type { JobRunOptions } from './run-job.ts';
import { setupKey } from './setup-key.ts';
import { createSetupPool } from './setup-pool.ts';
import { takeShard } from './shard.ts';
import { createSlots } from './slots.ts';
import type { RunningJob, StartJob } from './start-job.ts';

export interface BatchOptions extends Omit<JobRunOptions, 'below'> {
  version: string;
  /** All of them, of every shard. */
  jobs: readonly PlannedJob[];
  shard: Shard;
  concurrency: number;
  limits: BatchLimits;
  stopAfter: number | null;
  /** How often a job is done again whose model failed in a way that may pass. */
  retries: number;
  /** `--results`. */
  results: string | null;
  /** Where the union of the verified patches goes; null: none is made. */
  combine: string | null;
  source: TreeSource;
  environment: NodeJS.ProcessEnv;
  startJob: StartJob;
  clock: Clock;
}

export interface BatchSinks {
  /** stdout; its loss interrupts the batch. */
  main: BatchSink | null;
  others: readonly BatchSink[];
}

export interface BatchHandle {
  /** The exit code, when `batch.completed` is out. Never rejects: an error is told there, and among the problems. */
  readonly ended: Promise<number>;
  /** Outputs that could not be written, and what ended the batch as a whole: one sentence each, for stderr. */
  problems(): readonly string[];
  /** Every job that runs ends with its own result; what has not started does not start. */
  interrupt(why: Interruption): void;
}

/** Runs the jobs of a shard that have no verdict yet, each in a process and a tree of its own. */
export function startBatch(options: BatchOptions, sinks: BatchSinks): BatchHandle {
  const controller = new AbortController();
  const running = new Set<RunningJob>();
  const problems: string[] = [];
  let why: Interruption | null = null;
  let isCutOff = false;
  const interrupt = (reason: Interruption) => {
    if (why !== null) return;
    why = reason;
    controller.abort();
    for (const job of running) job.interrupt(reason);
  };
  const stream = createBatchStream({
    sinks: [...sinks.others, ...(sinks.main === null ? [] : [sinks.main])],
    clock: options.clock,
    interrupt: controller.signal,
    onSinkFailed(sink, error) {
      const isClosed = error instanceof SinkError && error.reason === 'closed';
      if (sink === sinks.main && isClosed) interrupt('SIGPIPE');
      if (why === null) problems.push(error instanceof Error ? error.message : String(error));
      if (sink !== sinks.main || why !== null) return;
      isCutOff = true;
      interrupt('SIGTERM');
    },
  });
  const control: Control = {
    interrupt,
    interruption: () => why,
    isCutOff: () => isCutOff,
    track(job) {
      running.add(job);
      if (why !== null) job.interrupt(why);
      return () => running.delete(job);
    },
  };
  const ended = runBatch(options, stream, control).catch((error: unknown) => {
    problems.push(stopOf(error).reason);
    return endByError(stream, error, options.version);
  });
  return { ended, problems: () => problems, interrupt };
}

async function makeStateFolder(stateDir: string): Promise<void> {
  try {
    await mkdir(join(stateDir, 'batch'), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusableState(stateDir, error);
  }
}

interface Control {
  interrupt(why: Interruption): void;
  interruption(): Interruption | null;
  /** stdout takes nothing more, for another reason than that its reader went away. */
  isCutOff(): boolean;
  track(job: RunningJob): () => void;
}

async function runBatch(options: BatchOptions, stream: BatchStream, control: Control): Promise<number> {
  const { clock, source, stateDir, shard } = options;
  const start = clock.now();
  const jobs = takeShard(options.jobs, shard);
  const about = { batch: digestBatch(options.jobs), shard };
  const digests = new Set(jobs.map((job) => job.digest));
  await makeStateFolder(stateDir);
  const records = await openRecords({ stateDir, file: options.results, digests, about });
  const trees = await openJobTrees(stateDir, source);
  const stops = createBatchStops(options.stopAfter, control.interruption);
  const setups = createSetupPool({
    trees,
    keyOf: (job) => setupKey(job, { ...source, isManifestOrLock, environment: options.environment }),
  });
  const ids = jobs.map((job) => job.id);
  const { version, concurrency } = options;
  await stream.emit({ type: 'batch.started', belay_version: version, ...about, jobs: ids, concurrency });
  const own = { ...options, below: source.below };
  const ports = {
    slots: createSlots(concurrency),
    budget: createBatchBudget(options.limits, () => clock.now()),
    setups,
    startJob: options.startJob,
    passOn: (line: string) => stream.passOn(line),
    track: control.track,
    stopped: stops.why,
    noteStop: stops.stop,
    interruption: control.interruption,
  };
  const { retries, combine: file } = options;
  const onFailed = () => control.interrupt('SIGTERM');
  const all = await runAll({
    jobs,
    about,
    concurrency,
    retries,
    options: own,
    ports,
    records,
    stops,
    stream,
    onFailed,
  });
  const combination =
    file === null || control.interruption() !== null
      ? null
      : await combineJobs({ all, options: own, ports, source, trees, file });
  await setups.close();
  await records.close();
  const completed = rollUp({
    records: all.map(({ record }) => record),
    recorded: all.filter(({ recorded }) => recorded).length,
    ...about,
    durationMs: clock.now() - start,
    stopped: stops.why(),
    combination,
    missing: null,
  });
  await stream.emit(completed);
  await stream.close();
  if (control.isCutOff()) return 1;
  return control.interruption() === 'SIGPIPE' ? INTERRUPTION_EXITS.SIGPIPE : completed.exit_code;
}
