import { UsageError } from '../errors.ts';

/** What one workflow run of GitHub Actions can start by a matrix. */
const MOST_ENTRIES = 256;

export interface MatrixEntry {
  /** For `--shard`. */
  shard: string;
  index: number;
  total: number;
  jobs: number;
}

/** A CI matrix: one entry a shard, at most 256. `shards`: how many; null: one a job, as far as that goes. */
export function planMatrix(jobs: number, shards: number | null): { include: MatrixEntry[] } {
  if (shards !== null && shards > MOST_ENTRIES)
    throw new UsageError(`--shards ${shards}: a matrix has at most ${MOST_ENTRIES} entries`);
  const total = Math.min(jobs, shards ?? MOST_ENTRIES);
  const include = Array.from({ length: total }, (_, at) => ({
    shard: `${at + 1}/${total}`,
    index: at + 1,
    total,
    jobs: Math.floor((jobs - at - 1) / total) + 1,
  }));
  return { include };
}
