import { join, relative } from 'node:path';
import { UsageError } from '../errors.ts';
import type { Location } from './locate-repository.ts';
import { resolveCommit } from './tree-reader.ts';

export interface CommittedQuery {
  /** Of the folder under work. */
  location: Location;
  /** null: HEAD. */
  ref: string | null;
  /** Looked for in that folder, then in the repository's root. */
  name: string;
}

/** `no_commit`: no repository, or nothing committed in it yet. `folder`: where the file was found or would be. */
export type CommittedFile =
  | { kind: 'no_commit' }
  | { kind: 'missing'; commit: string; folders: readonly string[] }
  | { kind: 'found'; commit: string; bytes: Buffer; file: string; shown: string };

/** A file as a commit has it: what the checkout says now does not count. Throws UsageError for a ref that names no commit. */
export async function readCommitted(query: CommittedQuery): Promise<CommittedFile> {
  const { dir, repository } = query.location;
  if (repository === null) {
    if (query.ref !== null) throw new UsageError(`--trust-ref ${query.ref}: ${dir} is not in a git repository`);
    return { kind: 'no_commit' };
  }
  const commit =
    query.ref === null ? (repository.head?.commit ?? null) : await resolveCommit(repository.git, query.ref);
  if (commit === null) return { kind: 'no_commit' };
  const folders = [...new Set([dir, repository.root])];
  for (const folder of folders) {
    const below = relative(repository.root, join(folder, query.name));
    const found = await repository.git.call(['cat-file', 'blob', `${commit}:${below}`]);
    if (found.code === 0)
      return {
        kind: 'found',
        commit,
        bytes: found.stdout,
        file: join(folder, query.name),
        shown: `${query.ref ?? 'HEAD'}:${below}`,
      };
  }
  return { kind: 'missing', commit, folders };
}
