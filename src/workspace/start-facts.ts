import { access, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hasCode, UsageError } from '../errors.ts';
import { statBelow } from './stat-below.ts';
import type { BaseState } from './workspace.ts';

/** What git does not record of the workspace as the run found it; kept beside the store for a resumed run. */
export interface StartFacts {
  base: BaseState;
  nested: readonly string[];
  /** Folders of the tree that held a repository; null where that was not asked (threads of an earlier belay). */
  repositories: readonly string[] | null;
  submodules: readonly string[];
  /** Ignored paths, which stay ignored. */
  pinned: readonly string[];
  /** Paths that a sparse checkout leaves out. */
  absent: readonly string[];
  emptyFolders: readonly string[];
  /** Permission bits of files that no commit has and that are neither 0644 nor 0755. */
  modes: Readonly<Record<string, number>>;
}

/** Folders that held a repository of their own. */
export const repositoriesOf = ({ nested, submodules, repositories }: StartFacts): Set<string> =>
  new Set([...nested, ...submodules, ...(repositories ?? [])]);

export const START_FILE = 'start.json';
/** Of files: none runs as its owner. */
const PERMISSIONS = 0o777;
const fileOf = (storeDir: string): string => join(storeDir, 'store.git', START_FILE);

export const writeStartFacts = async (storeDir: string, facts: StartFacts): Promise<void> => {
  const path = fileOf(storeDir);
  await writeFile(`${path}.new`, JSON.stringify(facts));
  await rename(`${path}.new`, path);
};

/** Whether an earlier open of the store came so far that its facts can be taken. */
export const hasStarted = async (storeDir: string): Promise<boolean> => {
  try {
    await access(fileOf(storeDir));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
};

export const loadStartFacts = (storeDir: string): Promise<StartFacts> => parseStartFacts(fileOf(storeDir), storeDir);

/** `place`: what a message calls it. */
export const parseStartFacts = async (file: string, place: string): Promise<StartFacts> => {
  // The file may come from another machine: no path of it leads out of the workspace, or into its git folder.
  const path = z.string().refine(isInnerPath);
  const paths = z.array(path);
  const schema = z.strictObject({
    base: z.strictObject({ commit: z.string().nullable(), dirty: z.boolean(), git: z.boolean(), tree: z.string() }),
    nested: paths,
    repositories: paths.nullable().default(null),
    submodules: paths,
    pinned: paths,
    absent: paths,
    emptyFolders: paths,
    modes: z.record(path, z.int().min(0).max(PERMISSIONS)),
  });
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error;
    throw new UsageError(`${place} holds no snapshots of a run`, { code: 'no_snapshots', cause: error });
  }
};

/** Relative, and of plain parts. */
const isInnerPath = (path: string): boolean =>
  path === '' ||
  (!path.includes('\0') &&
    path.split('/').every((part) => !['', '.', '..'].includes(part) && part.toLowerCase() !== '.git'));

const MAX_MODES = 20_000;

export const unusualModes = (root: string, paths: readonly string[]): Record<string, number> => {
  const modes: Record<string, number> = {};
  const folders = new Map<string, boolean>();
  for (const path of paths.slice(0, MAX_MODES)) {
    const stats = statBelow(root, path, folders);
    const bits = (stats?.mode ?? 0) & PERMISSIONS;
    if (stats?.isFile() === true && bits !== 0o644 && bits !== 0o755) modes[path] = bits;
  }
  return modes;
};
