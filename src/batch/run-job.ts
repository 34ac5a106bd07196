import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BatchStop, explainError, type Interruption, type Result, type RunSummary } from '../events/index.ts';
import { lostResult } from '../run/index.ts';
import type { BatchBudget, Grant } from './batch-budget.ts';
import { chooseAlternative } from './choose-alternative.ts';
import type { JobOrder } from './job-order.ts';
import type { PlannedJob } from './planned-job.ts';
import { type RunPorts, runOnce, summarise } from './run-once.ts';
import type { SetUpTree, SetupPool } from './setup-pool.ts';
import type { Slots } from './slots.ts';

export interface JobRunPorts extends Omit<RunPorts, 'onSetupKept'> {
  slots: Slots;
  budget: BatchBudget;
  setups: SetupPool;
  /** Why nothing more is started; null to go on. */
  stopped(): BatchStop | null;
  /** The budget is used up; returns what is told of it. */
  noteStop(stop: BatchStop): BatchStop;
  interruption(): Interruption | null;
}

export interface JobRunOptions {
  /** Folder under work, relative to the root. */
  below: string;
  outputSchema: string | null;
  ephemeral: boolean;
  /** Folder of `--patches`. */
  patches: string | null;
  stateDir: string;
  alternatives: number;
}

/** How a job ended: its result, every run that there was, and whether the batch's budget cut it short. */
export interface JobEnd {
  result: Result;
  runs: RunSummary[];
  cutShort: boolean;
}

interface Try {
  result: Result;
  cutShort: boolean;
  patchFile: string | null;
}

/** All alternatives of a job; the best of them is the job's. Never rejects. */
export async function runJob(job: PlannedJob, options: JobRunOptions, ports: JobRunPorts): Promise<JobEnd> {
  const numbers = Array.from({ length: options.alternatives }, (_, at) => at + 1);
  const tries = await Promise.all(numbers.map((number) => runAlternative({ job, number, options, ports })));
  const chosen = tries[chooseAlternative(tries.map(({ result }) => result))];
  if (chosen === undefined) throw new Error('bug: a job without a run');
  if (options.patches !== null && options.alternatives > 1 && chosen.patchFile !== null)
    await copyFile(chosen.patchFile, join(options.patches, `${job.id}.patch`));
  const runs = tries.filter(({ result }) => result.run_id !== '').map(({ result }) => summarise(result));
  return { result: chosen.result, runs, cutShort: chosen.cutShort };
}

interface Alternative {
  job: PlannedJob;
  /** From 1. */
  number: number;
  options: JobRunOptions;
  ports: JobRunPorts;
}

async function runAlternative(about: Alternative): Promise<Try> {
  const release = await about.ports.slots.take();
  try {
    return await runInSlot(about);
  } catch (error) {
    return { result: unstarted(about.job, failureOf(error)), cutShort: false, patchFile: null };
  } finally {
    release();
  }
}

async function runInSlot(about: Alternative): Promise<Try> {
  const { job, number, options, ports } = about;
  const notNow = (stop: BatchStop): Try => ({
    result: unstarted(job, stopFacts(stop, ports)),
    cutShort: stop.kind !== 'interrupted',
    patchFile: null,
  });
  const stop = ports.stopped();
  if (stop !== null) return notNow(stop);
  const grant = await ports.budget.take(job.policy.policy.limits);
  if ('kind' in grant) return notNow(ports.noteStop(grant));
  let used: { tokens: number; costUsd: number | null } = { tokens: 0, costUsd: 0 };
  try {
    // The budget may have been waited for.
    const late = ports.stopped();
    if (late !== null) return notNow(late);
    const name = options.alternatives === 1 ? job.id : `${job.id}.${number}`;
    const place = await ports.setups.open(job, name);
    try {
      const patchFile = options.patches === null ? null : join(options.patches, `${name}.patch`);
      const result = await runIn(place, { ...about, grant, patchFile });
      used = { tokens: result.usage.input_tokens + result.usage.output_tokens, costUsd: result.cost_usd };
      return {
        result,
        cutShort: grant.capped && result.outcome === 'limit_reached',
        patchFile: result.changes.files.length === 0 ? null : patchFile,
      };
    } finally {
      place.ended();
      await place.tree.remove();
    }
  } finally {
    grant.settle(used);
  }
}

async function runIn(
  place: SetUpTree,
  { job, options, ports, grant, patchFile }: Alternative & { grant: Grant; patchFile: string | null },
): Promise<Result> {
  const startedAt = new Date();
  const { goal, policy, trustRef, references, replay } = job;
  const order: JobOrder = {
    jobId: job.id,
    job: { goal, policy, trustRef, references, replay },
    limits: grant.limits,
    workspace: join(place.tree.dir, options.below),
    outputSchema: options.outputSchema,
    ephemeral: options.ephemeral,
    patchFile,
    stateDir: options.stateDir,
    keepSetup: place.keepSetup,
    setupTaken: place.setupTaken,
    verify: null,
  };
  const end = await runOnce(order, { ...ports, onSetupKept: () => place.kept() });
  if (end.kind === 'ended') return end.result;
  const why = ports.interruption();
  return lostResult({
    outcome: why === null ? 'internal_error' : 'interrupted',
    reason: `the run's process ended without a verdict (${end.how})`,
    endedBy: 'process_lost',
    goal,
    policy,
    baseCommit: job.base,
    interruption: why,
    runId: end.runId === '' ? 'unknown' : end.runId,
    threadId: end.threadId,
    usage: end.usage,
    costUsd: end.costUsd,
    startedAt,
  });
}

export interface Unstarted {
  outcome: Result['outcome'];
  reason: string;
  endedBy: string;
  interruption: Interruption | null;
}

/** The result of a job that was never started. */
export function unstarted(job: PlannedJob, facts: Unstarted): Result {
  return lostResult({
    ...facts,
    goal: job.goal,
    policy: job.policy,
    baseCommit: job.base,
    runId: '',
    threadId: '',
    usage: null,
    costUsd: 0,
    startedAt: new Date(),
  });
}

function stopFacts(stop: BatchStop, ports: Pick<JobRunPorts, 'interruption'>): Unstarted {
  const interruption = stop.kind === 'interrupted' ? ports.interruption() : null;
  const outcome = stop.kind === 'interrupted' ? 'interrupted' : 'limit_reached';
  return { outcome, reason: `not started: ${stop.reason}`, endedBy: `batch_${stop.kind}`, interruption };
}

/** A tree that cannot be laid out is this job's failure, not the batch's. */
function failureOf(error: unknown): Unstarted {
  const { outcome, reason } = explainError(error);
  return { outcome, reason, endedBy: 'not_started', interruption: null };
}
