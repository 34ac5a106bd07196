import { UsageError } from '../errors.ts';
import type { Git } from './git.ts';

const SUBMODULE = '160000';

/** Sizes by object id, null where the store lacks the object. */
export const objectSizes = async (git: Git, oids: readonly string[]): Promise<Map<string, number | null>> => {
  const sizes = new Map<string, number | null>();
  if (oids.length === 0) return sizes;
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)'];
  const listed = await git.run(args, { stdin: `${oids.join('\n')}\n` });
  for (const line of listed.toString('latin1').trim().split('\n')) {
    const [oid = '', size] = line.split(' ');
    sizes.set(oid, size === 'missing' ? null : Number(size));
  }
  return sizes;
};

/** The first path whose content is not here; null when all is. */
export const firstMissing = async (
  git: Git,
  entries: readonly { mode: string; oid: string; path: string }[],
): Promise<string | null> => {
  const files = entries.filter((entry) => entry.mode !== SUBMODULE);
  const sizes = await objectSizes(git, [...new Set(files.map((entry) => entry.oid))]);
  return files.find((entry) => sizes.get(entry.oid) === null)?.path ?? null;
};

/** A partial clone leaves objects out, and belay never fetches. */
export const missingObject = (path: string): UsageError =>
  new UsageError(
    `the content of ${path} is missing from this clone, and belay does not fetch: clone it whole, or fetch that file before the run`,
    { code: 'missing_object' },
  );
