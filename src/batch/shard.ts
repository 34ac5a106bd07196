import { UsageError } from '../errors.ts';
import type { Shard } from '../events/index.ts';

/** `2/5`: the second of five. Throws UsageError for anything else. */
export function parseShard(text: string, origin: string): Shard {
  const [, index, total] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (index === undefined || total === undefined)
    throw new UsageError(`${origin}: ${JSON.stringify(text.slice(0, 40))} is no shard; expected I/N, such as 2/5`);
  return checkShard({ index: Number(index), total: Number(total) }, origin);
}

function checkShard(shard: Shard, origin: string): Shard {
  if (shard.index >= 1 && shard.total >= 1 && shard.index <= shard.total) return shard;
  throw new UsageError(`${origin}: there is no shard ${shard.index} of ${shard.total}; shards count from 1`);
}

interface Engine {
  index: string;
  count: string;
  /** What the engine calls the first. */
  first: 0 | 1;
}

/** Engines that start the same command several times and tell each which one it is. */
const ENGINES: readonly Engine[] = [
  // Kubernetes Indexed Job. The count is no variable of its own there: the manifest sets it, or --shards does.
  { index: 'JOB_COMPLETION_INDEX', count: 'JOB_COMPLETION_COUNT', first: 0 },
  { index: 'CI_NODE_INDEX', count: 'CI_NODE_TOTAL', first: 1 },
  { index: 'CIRCLE_NODE_INDEX', count: 'CIRCLE_NODE_TOTAL', first: 0 },
  { index: 'BUILDKITE_PARALLEL_JOB', count: 'BUILDKITE_PARALLEL_JOB_COUNT', first: 0 },
  { index: 'AWS_BATCH_JOB_ARRAY_INDEX', count: 'AWS_BATCH_JOB_ARRAY_SIZE', first: 0 },
];

export interface ShardQuestion {
  /** `--shard`. */
  given: { text: string; origin: string } | null;
  /** `--shards`. */
  count: number | null;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Which part of the batch this process does: `--shard`, else what the engine around it says, else everything. An index without a
 * count is a usage error: every process would do the whole batch.
 */
export function readShard({ given, count, env }: ShardQuestion): Shard {
  if (given !== null) {
    const shard = parseShard(given.text, given.origin);
    if (count !== null && count !== shard.total)
      throw new UsageError(`${given.origin}: ${given.text} and --shards ${count} do not agree`);
    return shard;
  }
  for (const engine of ENGINES) {
    const index = env[engine.index];
    if (index === undefined || index === '') continue;
    const total = env[engine.count];
    const known = total === undefined || total === '' ? count : wholeNumber(total, engine.count);
    if (known === null)
      throw new UsageError(
        `${engine.index} is set, but not how many there are: set ${engine.count}, or give --shards N or --shard I/N`,
      );
    if (count !== null && count !== known)
      throw new UsageError(`--shards ${count} and ${engine.count}=${known} do not agree`);
    return checkShard({ index: wholeNumber(index, engine.index) + 1 - engine.first, total: known }, engine.index);
  }
  const slurm = readSlurm(env);
  if (slurm !== null) return slurm;
  if (count !== null) throw new UsageError('--shards tells how many there are; --shard I/N tells which one this is');
  return { index: 1, total: 1 };
}

/** SLURM counts an array from any number, in steps of any size. */
function readSlurm(env: ShardQuestion['env']): Shard | null {
  const id = env['SLURM_ARRAY_TASK_ID'];
  if (id === undefined || id === '') return null;
  const read = (name: string, absent: string) => wholeNumber(env[name] ?? absent, name);
  const first = read('SLURM_ARRAY_TASK_MIN', '');
  const last = read('SLURM_ARRAY_TASK_MAX', '');
  const step = read('SLURM_ARRAY_TASK_STEP', '1');
  const total = read('SLURM_ARRAY_TASK_COUNT', '');
  const place = (wholeNumber(id, 'SLURM_ARRAY_TASK_ID') - first) / step;
  if (step < 1 || (last - first) / step + 1 !== total || !Number.isInteger(place))
    throw new UsageError('SLURM_ARRAY_TASK_ID: the array is not an even one (first-last:step); give --shard I/N');
  return checkShard({ index: place + 1, total }, 'SLURM_ARRAY_TASK_ID');
}

function wholeNumber(text: string, name: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${name}: ${JSON.stringify(text.slice(0, 40))} is no whole number`);
}

/** The jobs of a shard: every n-th, in order. Shards differ by one job at most, and the same file gives the same shards. */
export function takeShard<T>(jobs: readonly T[], { index, total }: Shard): T[] {
  return jobs.filter((_, at) => at % total === index - 1);
}
