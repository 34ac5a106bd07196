import { dirname, relative, resolve } from 'node:path';
import {
  expandTemplate,
  type JobLine,
  type JobPorts,
  loadJobs,
  type PlannedJob,
  planJobs,
  sha256,
} from '../batch/index.ts';
import { UsageError } from '../errors.ts';
import { openTreeSource, type TreeSource } from '../workspace/index.ts';
import type { Io } from './command.ts';
import { confineJobFiles } from './confine-job-files.ts';
import { loadOutputSchema } from './load-output-schema.ts';
import { loadPolicyAloud } from './load-policy-for.ts';
import { loadReferences } from './load-references.ts';
import { readGoal, readGoalFile, refuseUnfit } from './read-goal.ts';
import { type GivenOptions, listOf, textOf } from './read-options.ts';
import { wholeOf } from './whole-of.ts';

/** Jobs as they will run, and where their trees come from. */
export interface BatchPlan {
  jobs: PlannedJob[];
  source: TreeSource;
  outputSchema: string | null;
  alternatives: number;
}

/** Reads and validates everything that can be before anything runs. Throws UsageError with every fault. */
export async function planBatch(options: GivenOptions, file: string | null, io: Io): Promise<BatchPlan> {
  refuseUnclear(options, file);
  const cwd = io.cwd();
  const workspace = resolve(cwd, textOf(options, 'workspace') ?? '.');
  const source = await openTreeSource({ dir: workspace, path: io.env['PATH'] ?? '' });
  const schema = textOf(options, 'output-schema');
  const outputSchema = schema === null ? null : resolve(cwd, schema);
  const alternatives = wholeOf(options, 'attempts-per-job', { least: 1, most: 100 }) ?? 1;
  const lines = await readLines({ options, file, io, source, workspace });
  const confine = await confineJobFiles(file === null ? null : resolve(cwd, file), source.root);
  const replay = textOf(options, 'replay');
  const jobs = await planJobs(lines, {
    source,
    ports: createPorts({ options, workspace, cwd, io, confine }),
    folder: file === null ? cwd : dirname(resolve(cwd, file)),
    shared: {
      below: source.below,
      outputSchema: outputSchema === null ? null : sha256((await loadOutputSchema(outputSchema)).text),
      alternatives,
    },
    replay: replay === null ? null : resolve(cwd, replay),
    needsPrice: textOf(options, 'total-cost-usd') !== null,
  });
  return { jobs, source, outputSchema, alternatives };
}

interface LineSources {
  options: GivenOptions;
  file: string | null;
  io: Io;
  source: TreeSource;
  workspace: string;
}

/** Jobs come from one place. */
function refuseUnclear(options: GivenOptions, file: string | null): void {
  const makesJobs = ['files', 'goal', 'goal-file'].some((name) => options.has(name));
  if (file === null && !options.has('files'))
    throw new UsageError('name a job file: belay batch JOBS.jsonl, or --files GLOB with --goal TEXT');
  if (file !== null && makesJobs)
    throw new UsageError('--files, --goal and --goal-file make the jobs themselves: give them without a job file');
}

async function readLines({ options, file, io, source, workspace }: LineSources): Promise<JobLine[]> {
  const patterns = listOf(options, 'files');
  const goal = textOf(options, 'goal');
  const goalFile = textOf(options, 'goal-file');
  if (file !== null) return loadJobs(resolve(io.cwd(), file), file);
  const text = await readGoal({
    word: goal,
    file: goalFile === null ? null : resolve(io.cwd(), goalFile),
    stdin: io.stdin,
  });
  return expandTemplate({ patterns, goal: text, source, dir: workspace });
}

interface PortSources {
  options: GivenOptions;
  workspace: string;
  cwd: string;
  io: Io;
  /** Throws for a file that a job may not name. */
  confine(path: string): Promise<void>;
}

function createPorts({ options, workspace, cwd, io, confine }: PortSources): JobPorts {
  return {
    async readGoal(text, file) {
      if (text !== undefined) return refuseUnfit(text, 'goal');
      await confine(file);
      return readGoalFile(file, 'goal_file');
    },
    loadPolicy({ policy, base }) {
      const own = policy === null ? options : new Map([...options, ['policy', jobPolicy(policy, cwd)]]);
      return loadPolicyAloud(
        { options: own, workspace, cwd, env: io.env, ...(base === null ? {} : { head: base }) },
        io.stderr,
      );
    },
    loadReferences: (patterns, folder) => loadReferences(patterns, folder, confine),
  };
}

function jobPolicy(path: string, cwd: string) {
  const shown = relative(cwd, path);
  return { values: [shown.startsWith('..') ? path : shown], origin: 'policy of the job' };
}
