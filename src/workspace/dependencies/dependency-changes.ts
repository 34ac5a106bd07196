import { UsageError } from '../../errors.ts';
import type { DependencyChange, FileChange } from '../../events/index.ts';
import type { TreeId, Workspace } from '../workspace.ts';
import { dependencyFile } from './dependency-files.ts';
import type { PinnedVersion } from './pinned-version.ts';

export interface DependencyQuestion {
  from: TreeId;
  to: TreeId;
  /** The files that differ between the two. */
  files: readonly FileChange[];
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_CHANGES = 1000;

/** What the change does to dependencies, by file and name. A file that cannot be read as such counts as one change; never rejects for contents. */
export const dependencyChanges = async (
  workspace: Pick<Workspace, 'read'>,
  { from, to, files }: DependencyQuestion,
): Promise<DependencyChange[]> => {
  const changes: DependencyChange[] = [];
  for (const { path } of files) {
    if (dependencyFile(path) === null) continue;
    const [before, after] = await Promise.all([readText(workspace, from, path), readText(workspace, to, path)]);
    changes.push(...compareDependencies(path, before, after));
    if (changes.length > MAX_CHANGES)
      return [...changes.slice(0, MAX_CHANGES), { path, name: '(more changes)', from: null, to: null }];
  }
  return changes;
};

/** undefined: too large, or its content is missing. */
const readText = async (
  workspace: Pick<Workspace, 'read'>,
  tree: TreeId,
  path: string,
): Promise<string | null | undefined> => {
  try {
    return (await workspace.read(tree, path, { maxBytes: MAX_FILE_BYTES }))?.toString('utf8') ?? null;
  } catch (error) {
    if (error instanceof UsageError && ['too_large', 'missing_object'].includes(error.code)) return undefined;
    throw error;
  }
};

/** null: the file is not there on that side. Pure. */
export const compareDependencies = (
  path: string,
  before: string | null | undefined,
  after: string | null | undefined,
): DependencyChange[] => {
  const file = dependencyFile(path);
  if (file === null || (before === after && before !== undefined)) return [];
  const whole: DependencyChange[] = [{ path, name: '(file changed)', from: null, to: null }];
  const [old, now] = [versionsIn(path, before), versionsIn(path, after)];
  if (old === null || now === null) return whole;
  const changes: DependencyChange[] = [];
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [from, to] = [versionText(old.get(name)), versionText(now.get(name))];
    if (from !== to) changes.push({ path, name, from, to });
    else if (sourceText(old.get(name)) !== sourceText(now.get(name)))
      changes.push({ path, name, from, to: `${to} (from another source)` });
  }
  return changes.length === 0 && file.lock ? whole : changes;
};

const versionsIn = (path: string, text: string | null | undefined): Map<string, PinnedVersion[]> | null => {
  if (text === null) return new Map();
  const parse = dependencyFile(path)?.parse ?? null;
  if (text === undefined || parse === null) return null;
  try {
    return parse(text);
  } catch (error) {
    // The text is the agent's: broken on purpose or not, it is reported as changed.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
};

const versionText = (versions: readonly PinnedVersion[] | undefined): string | null =>
  versions === undefined ? null : [...new Set(versions.map(({ version }) => version))].sort().join(', ');

const sourceText = (versions: readonly PinnedVersion[] | undefined): string =>
  (versions ?? [])
    .map(({ version, source }) => `${version} ${source ?? ''}`)
    .sort()
    .join('\n');
