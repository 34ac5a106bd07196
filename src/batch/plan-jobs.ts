import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ReferenceFile } from '../context/index.ts';
import { codeOf, UsageError } from '../errors.ts';
import { loadPrices } from '../model/index.ts';
import { applyOptions, type LoadedPolicy, type OptionValue } from '../policy/index.ts';
import { policyGlobs } from '../run/index.ts';
import type { TreeSource } from '../workspace/index.ts';
import { type JobLine, refuseFaults } from './load-jobs.ts';
import { digestJob, type PlannedJob, type SharedInputs, sha256 } from './planned-job.ts';

/** How a job's inputs are read: the same ways that `belay run` has. Each throws UsageError. */
export interface JobPorts {
  /** The text where it is given, else what the file holds. */
  readGoal(text: string | undefined, file: string): Promise<string>;
  /** `base`: the commit that stands for HEAD; null: HEAD. */
  loadPolicy(about: {
    policy: string | null;
    base: string | null;
  }): Promise<{ policy: LoadedPolicy; trustRef: string | null }>;
  loadReferences(patterns: readonly string[], folder: string): Promise<ReferenceFile[]>;
}

export interface PlanOptions {
  source: TreeSource;
  ports: JobPorts;
  /** Paths of jobs are relative to it: the job file's folder. */
  folder: string;
  shared: SharedInputs;
  /** A cassette for all jobs, or a folder with `ID.jsonl` for each. */
  replay: string | null;
  /** A budget in USD needs prices. */
  needsPrice: boolean;
}

/** Reads and validates every job, before anything runs. Throws one UsageError with all faults, each with its line. */
export async function planJobs(lines: readonly JobLine[], options: PlanOptions): Promise<PlannedJob[]> {
  const faults: string[] = [];
  const jobs: PlannedJob[] = [];
  const loadPolicy = remember(options.ports.loadPolicy);
  const cassettes = createCassettes(options.replay);
  for (const line of lines) {
    try {
      jobs.push(await planJob(line, { ...options, ports: { ...options.ports, loadPolicy }, cassettes }));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(`${line.where}: ${error.message}`);
    }
  }
  refuseFaults(faults);
  return jobs;
}

async function planJob({ job, where }: JobLine, options: PlanOptions & { cassettes: Cassettes }): Promise<PlannedJob> {
  const { source, ports, folder, shared, needsPrice } = options;
  const goal = await ports.readGoal(job.goal, resolve(folder, job.goal_file ?? ''));
  const base = await source.resolve(job.ref ?? null, 'ref');
  const loaded = await ports.loadPolicy({
    policy: job.policy === undefined ? null : resolve(folder, job.policy),
    base: job.ref === undefined ? null : base,
  });
  const policy = tighten(loaded.policy, job.limits, where);
  const replay = await options.cassettes.find(job.id);
  await refuseUnfit(policy, { replay: replay !== null, needsPrice });
  const planned = {
    id: job.id,
    where,
    goal,
    policy: { ...policy, policy: await protectOwnFile(policy, source.root) },
    trustRef: loaded.trustRef,
    base,
    references: await ports.loadReferences(job.context ?? [], folder),
    replay: replay?.path ?? null,
  };
  return { ...planned, digest: digestJob(planned, { ...shared, cassette: replay?.sha256 ?? null }) };
}

function tighten(policy: LoadedPolicy, limits: JobLine['job']['limits'], where: string): LoadedPolicy {
  const value = (name: keyof NonNullable<typeof limits>): OptionValue | undefined => {
    const given = limits?.[name];
    return given === undefined ? undefined : { text: String(given), origin: `${where} limits.${name}` };
  };
  return applyOptions(policy, {
    turns: value('turns'),
    attempts: value('attempts'),
    wallTime: value('wall_time'),
    tokens: value('tokens'),
    costUsd: value('cost_usd'),
    toolCalls: value('tool_calls'),
  });
}

/** What every run of the job would refuse. */
async function refuseUnfit(
  { policy }: LoadedPolicy,
  { replay, needsPrice }: { replay: boolean; needsPrice: boolean },
): Promise<void> {
  if (policy.model === null) {
    if (replay) return;
    throw new UsageError('the policy names no model: give one in `model`, by --model PROVIDER/NAME, or --replay');
  }
  if (policy.model.apiKeyFd !== null && !replay)
    throw new UsageError(
      'model.api_key_fd can be read once, and a batch has many runs: name another source of the key',
    );
  if (!needsPrice || replay) return;
  const costOf = await loadPrices(policy.model);
  const probe = { input_tokens: 1000, cached_input_tokens: 0, output_tokens: 1000 };
  if (costOf({ ...probe, reasoning_tokens: 0, requests: 1, retries: 0 }) === null)
    throw new UsageError(
      `--total-cost-usd needs a price, and that of ${policy.model.provider}/${policy.model.name} is unknown: give model.price`,
    );
}

/** The policy in use is no file of the job's own tree by its path: it is protected there by name. */
async function protectOwnFile({ policy, path }: LoadedPolicy, root: string): Promise<LoadedPolicy['policy']> {
  const globs = path === null ? [] : await policyGlobs(path, root);
  const { workspace } = policy;
  return { ...policy, workspace: { ...workspace, protect: [...workspace.protect, ...globs] } };
}

function remember(load: JobPorts['loadPolicy']): JobPorts['loadPolicy'] {
  const known = new Map<string, ReturnType<JobPorts['loadPolicy']>>();
  return (about) => {
    const key = JSON.stringify([about.policy, about.base]);
    const found = known.get(key) ?? load(about);
    known.set(key, found);
    return found;
  };
}

interface Cassettes {
  find(id: string): Promise<{ path: string; sha256: string } | null>;
}

function createCassettes(replay: string | null): Cassettes {
  const known = new Map<string, Promise<{ path: string; sha256: string }>>();
  return {
    async find(id) {
      if (replay === null) return null;
      const path = (await isFolder(replay)) ? join(replay, `${id}.jsonl`) : replay;
      const found = known.get(path) ?? readCassette(path);
      known.set(path, found);
      return found;
    },
  };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (codeOf(error) !== null) return false;
    throw error;
  }
}

async function readCassette(path: string): Promise<{ path: string; sha256: string }> {
  try {
    return { path, sha256: sha256(await readFile(path)) };
  } catch (error) {
    throw new UsageError(`--replay: cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
