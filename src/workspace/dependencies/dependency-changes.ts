import { isUtf8 } from 'node:buffer';
import { UsageError } from '../../errors.ts';
import type { DependencyChange, FileChange } from '../../events/index.ts';
import type { TreeId, Workspace } from '../workspace.ts';
import { isManifestOrLock } from './dependency-files.ts';

export interface DependencyQuestion {
  from: TreeId;
  to: TreeId;
  /** The files that differ between the two. */
  files: readonly FileChange[];
}

const MAX_CHANGES = 1000;

/** What the change does to dependencies, by file and name. A file that cannot be read as such counts as one change; never rejects for contents. */
export const dependencyChanges = async (
  workspace: Pick<Workspace, 'read' | 'readFollowed'>,
  { from, to, files }: DependencyQuestion,
): Promise<DependencyChange[]> => {
  const named = files.filter(({ path }) => isManifestOrLock(path));
  if (named.length === 0) return [];
  const { compareDependencies } = await import('./compare-dependencies.ts');
  const changes: DependencyChange[] = [];
  for (const { path } of named) {
    const [before, after] = await Promise.all([readText(workspace, from, path), readText(workspace, to, path)]);
    for (const change of compareDependencies(path, before, after)) {
      if (changes.length === MAX_CHANGES) return [...changes, { path, name: '(more changes)', from: null, to: null }];
      changes.push(change);
    }
  }
  return changes;
};

/** A link is followed within the tree. undefined: too large, not text in UTF-8, its content is missing, or a link that leads elsewhere. */
const readText = async (
  workspace: Pick<Workspace, 'read' | 'readFollowed'>,
  tree: TreeId,
  path: string,
): Promise<string | null | undefined> => {
  try {
    const found = await workspace.readFollowed(tree, path);
    if (found === null) return (await workspace.read(tree, path, { maxBytes: 0 })) === null ? null : undefined;
    return isUtf8(found) && !found.includes(0) ? found.toString('utf8') : undefined;
  } catch (error) {
    if (error instanceof UsageError && ['too_large', 'missing_object'].includes(error.code)) return undefined;
    throw error;
  }
};
