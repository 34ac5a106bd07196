import { createHash } from 'node:crypto';
import { UsageError } from '../errors.ts';
import type { TreeSource } from '../workspace/index.ts';
import type { JobLine } from './load-jobs.ts';

export interface Template {
  /** fast-glob patterns, relative to the folder under work. */
  patterns: readonly string[];
  /** The goal, with `{file}` where the path goes. */
  goal: string;
  source: TreeSource;
  /** Absolute path of the folder under work. */
  dir: string;
}

const PLACE = '{file}';

/** One job a file: every file that a pattern finds and the commit has. Throws UsageError when there is none. */
export async function expandTemplate({ patterns, goal, source, dir }: Template): Promise<JobLine[]> {
  if (!goal.includes(PLACE)) throw new UsageError(`the goal of a template names its file as ${PLACE}`);
  const { default: glob } = await import('fast-glob');
  const found = await glob([...patterns], {
    cwd: dir,
    dot: true,
    ignore: ['**/.git/**'],
    followSymbolicLinks: false,
    onlyFiles: true,
  });
  const prefix = source.below === '' ? '' : `${source.below}/`;
  const committed = new Set((await source.entries(await source.resolve(null, 'HEAD'))).map(({ path }) => path));
  const files = [...new Set(found)].filter((file) => committed.has(prefix + file)).sort();
  if (files.length === 0) throw new UsageError(`--files: ${patterns.join(' ')} finds no file that is committed`);
  return files.map((file) => ({
    where: file,
    job: { id: jobIdOf(file), goal: goal.replaceAll(PLACE, () => file) },
  }));
}

/** Readable, and different for different paths. */
function jobIdOf(file: string): string {
  const readable = file.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return `${readable.slice(-80).replace(/^[^A-Za-z0-9]+/, '') || 'file'}-${createHash('sha256').update(file).digest('hex').slice(0, 8)}`;
}
