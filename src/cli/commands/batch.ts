import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createJobStarter, planMatrix, readShard, startBatch } from '../../batch/index.ts';
import { codeOf, UsageError } from '../../errors.ts';
import { oneLine, openBatchTrace, systemClock, toJson } from '../../events/index.ts';
import { parseDuration } from '../../policy/index.ts';
import { limitOwnCores } from '../../sandbox/index.ts';
import { stateFolder } from '../../thread/index.ts';
import type { Handler, Invocation, Io } from '../command.ts';
import { handleBatch } from '../handle-batch.ts';
import { requireWritable } from '../output-file.ts';
import { planBatch } from '../plan-batch.ts';
import { print } from '../print.ts';
import { type GivenOptions, isGiven, textOf } from '../read-options.ts';
import { finishReports, openReports, patchesIn } from '../report-folder.ts';
import { wholeOf } from '../whole-of.ts';

/** `belay batch JOBS`, `batch plan JOBS`, `batch merge FILE…`. */
export const batchAction: Handler = async (invocation) => {
  const [first, ...rest] = invocation.words;
  if (first === 'merge') return (await import('./batch-merge.ts')).mergeBatch({ ...invocation, words: rest });
  if (first === 'plan') return printPlan({ ...invocation, words: rest });
  return runBatch(invocation);
};

/** One job file, or none with `--files`. */
function jobFile(words: readonly string[]): string | null {
  if (words.length > 1) throw new UsageError(`one job file at a time: ${words.join(' ')}`);
  return words[0] ?? null;
}

const printPlan: Handler = async ({ options, words, io, fault, signals }) => {
  await signals.release();
  if (fault !== null) throw fault;
  const { jobs } = await planBatch(options, jobFile(words), io);
  const matrix = planMatrix(jobs.length, wholeOf(options, 'shards', { least: 1, most: 1_000_000 }));
  await print(io.stdout, `${toJson(matrix)}\n`);
  return 0;
};

async function readBatch({ options, words, io }: Invocation) {
  const cwd = io.cwd();
  const path = (name: string) => {
    const given = textOf(options, name);
    return given === null ? null : resolve(cwd, given);
  };
  const results = path('results');
  const folder = path('reports');
  // Pages show the diff, so that the patches have to be somewhere.
  const patches = path('patches') ?? (folder === null ? null : patchesIn(folder));
  if (results !== null) await requireWritable('--results', results);
  const combine = path('combine');
  if (combine !== null) await requireWritable('--combine', combine);
  const settings = readSettings(options, io);
  const plan = await planBatch(options, jobFile(words), io);
  const reports = folder === null ? null : await openReports(folder);
  try {
    if (patches !== null) await makeFolder('--patches', patches);
  } catch (error) {
    await reports?.discard();
    throw error;
  }
  return { ...settings, ...plan, results, patches, combine, reports };
}

const runBatch: Handler = (invocation) =>
  handleBatch(invocation, readBatch, async ({ reports, ...asked }, sinks) => {
    const { options, io, version, signals } = invocation;
    // Each job bounds its own; this process holds the key as well.
    limitOwnCores();
    const traces = await openBatchTrace(io.env, {
      onProblem: (message) => void print(io.stderr, `belay: ${oneLine(message)}\n`),
    });
    const further = [reports, traces].flatMap((one) => one?.sink ?? []);
    const batch = startBatch(
      {
        ...asked,
        version,
        ephemeral: isGiven(options, 'ephemeral'),
        stateDir: stateFolder(io.env),
        environment: io.env,
        startJob: createJobStarter(process.argv[1] ?? '', traces?.env ?? io.env),
        clock: systemClock,
      },
      { ...sinks, others: [...sinks.others, ...further] },
    );
    signals.to(batch.interrupt);
    const code = await batch.ended;
    for (const problem of batch.problems()) await print(io.stderr, `belay: ${oneLine(problem, 1000)}\n`);
    return finishReports(reports, { code, io });
  });

async function makeFolder(option: string, path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    if (codeOf(error) === null) throw error;
    throw new UsageError(`${option}: cannot write to ${path} (${codeOf(error)})`, { cause: error });
  }
}

function readSettings(options: GivenOptions, io: Io) {
  const shard = options.get('shard');
  const text = shard?.values[0];
  const whole = (name: string, least: number, most: number) => wholeOf(options, name, { least, most });
  return {
    shard: readShard({
      given: shard === undefined || text === undefined ? null : { text, origin: shard.origin },
      count: whole('shards', 1, 1_000_000),
      env: io.env,
    }),
    concurrency: whole('concurrency', 1, 1000) ?? 4,
    retries: whole('retries', 0, 100) ?? 1,
    stopAfter: whole('stop-after', 0, 1_000_000),
    limits: {
      tokens: whole('total-tokens', 1, 1e15),
      costUsd: dollarsOf(options, 'total-cost-usd'),
      wallTimeMs: durationOf(options, 'total-wall-time'),
    },
  };
}

function dollarsOf(options: GivenOptions, name: string): number | null {
  const text = textOf(options, name);
  if (text === null) return null;
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`--${name}: ${JSON.stringify(text.slice(0, 40))} is not valid; expected USD above 0`);
}

function durationOf(options: GivenOptions, name: string): number | null {
  const text = textOf(options, name);
  if (text === null) return null;
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new UsageError(`--${name}: ${JSON.stringify(text.slice(0, 40))} is no duration such as 90m or 8h`);
}
