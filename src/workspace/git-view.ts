import { copyFile, lchown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { hasCode } from '../errors.ts';
import { isWithin } from '../sandbox/index.ts';
import { type Git, splitNul } from './git.ts';
import { hasHiddenPast, type PastSearch, submodulePrefix } from './hidden-past.ts';
import type { Repository } from './locate-repository.ts';
import { isPlainConfig, renderSafeConfig } from './safe-config.ts';
import { textPath } from './text-path.ts';
import type { TreeEntry } from './tree-reader.ts';

/** What the agent is shown in place of a file or folder of git's own. Absolute paths. */
export interface Cover {
  /** null: nothing. */
  from: string | null;
  to: string;
}

export interface GitViewOptions {
  repository: Repository;
  /** Ours, outside the repository; what is shown is written there. */
  folder: string;
  /** Whether `workspace.hide` matches a path (relative to the root), and texts of which every such path has one. */
  hides(path: string): boolean;
  literals: readonly string[];
  /** Ends the work: then nothing of the repository is shown. */
  signal: AbortSignal;
}

/** Files at the top of a git directory whose purpose is known; others (a credential store, say) are not shown. */
const KNOWN_FILES =
  /^(?:[A-Z_]*HEAD|AUTO_MERGE|COMMIT_EDITMSG|MERGE_(?:MSG|MODE|RR)|SQUASH_MSG|BISECT_.*|config|config\.worktree|description|index|packed-refs|shallow|commondir|gitdir|locked|sharedindex\..*|.*\.lock|gc\.(?:log|pid))$/;
const MODULES_DEPTH = 4;

/** What a history may take to be looked through: 100,000 commits take some 5 s. */
const SEARCH_MS = 10_000;

/**
 * The repository as an agent may read it: without the credentials of its configuration, and, where git tracks or ever tracked a path that
 * the policy hides, as one commit without history, in whose objects that path's contents are not.
 */
export const createGitView = async (options: GitViewOptions): Promise<readonly Cover[]> => {
  const { repository, folder, hides, literals } = options;
  const { git, commonDir, alternates } = repository;
  const { own, modules } = await gitDirectories(repository);
  const covers = (await Promise.all([...own, ...modules].map((dir) => coverFiles(git, dir, folder)))).flat();
  if (literals.length === 0) return covers;
  const search = { git, literals, hides, signal: AbortSignal.any([options.signal, AbortSignal.timeout(SEARCH_MS)]) };
  const lenders = alternates.map((objects) => dirname(objects));
  if (!(await findPast(search, [commonDir, ...lenders])))
    return [...covers, ...(await coverModules(repository, search, modules))];
  if (options.signal.aborted) return [commonDir, ...alternates].map((to) => ({ from: null, to }));
  const tracked = await listTracked(repository);
  const view = join(folder, 'repository');
  await mkdir(view, { recursive: true });
  await copyKept(repository, view, covers);
  await packObjects(options, tracked, view);
  await passOver(options, tracked, join(view, relative(repository.commonDir, repository.gitDir), 'index'));
  await giveToOwnerOf(commonDir, view);
  // Borrowed objects hold the hidden contents, too.
  return [{ from: view, to: commonDir }, ...alternates.map((to) => ({ from: null, to }))];
};

const findPast = async (search: Omit<PastSearch, 'dir' | 'prefix'>, dirs: readonly string[]): Promise<boolean> => {
  for (const dir of dirs) if (await hasHiddenPast({ ...search, dir, prefix: '' })) return true;
  return false;
};

/** A submodule with a hidden path in its past has no objects for the agent. */
const coverModules = async (
  repository: Repository,
  search: Omit<PastSearch, 'dir' | 'prefix'>,
  modules: readonly string[],
): Promise<Cover[]> => {
  const covers: Cover[] = [];
  for (const dir of modules) {
    const prefix = await submodulePrefix(repository, dir);
    // Of one whose folder is not known (it was taken out, or is another work tree's), nobody can tell which paths are hidden.
    if (prefix === null || (await hasHiddenPast({ ...search, dir, prefix })))
      covers.push({ from: null, to: join(dir, 'objects') });
  }
  return covers;
};

/** git refuses a repository of another user than the one it runs as, which is the owner of the workspace. */
const giveToOwnerOf = async (like: string, folder: string): Promise<void> => {
  const { uid, gid } = await stat(like);
  if (process.geteuid?.() !== 0 || uid === 0) return;
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) await lchown(join(folder, name), uid, gid);
};

/** Entries of HEAD and of the index, which may hold what no commit does. */
const listTracked = async ({ git, head }: Repository): Promise<TreeEntry[]> => {
  const [committed, staged] = await Promise.all([
    head === null ? Buffer.alloc(0) : git.run(['ls-tree', '-r', '-z', '--full-tree', head.tree]),
    git.call(['ls-files', '-s', '-z']),
  ]);
  return [
    ...splitNul(committed).map((line) => parseEntry(line, 2)),
    ...splitNul(staged.stdout).map((line) => parseEntry(line, 1)),
  ].filter(({ mode }) => mode !== '160000');
};

/** `MODE TYPE OID\tPATH` of a tree (`field` 2), `MODE OID STAGE\tPATH` of an index (`field` 1). */
const parseEntry = (line: Buffer, field: number): TreeEntry => {
  const tab = line.indexOf(9);
  const fields = line.toString('latin1', 0, tab).split(' ');
  return { mode: fields[0] ?? '', oid: fields[field] ?? '', path: textPath(line.subarray(tab + 1)) };
};

/** The repository's git directory with those of all its work trees, and those of the submodules of each. */
const gitDirectories = async ({ commonDir, gitDir }: Repository): Promise<{ own: string[]; modules: string[] }> => {
  const linked = (await entriesOf(join(commonDir, 'worktrees'))).filter((entry) => entry.isDirectory());
  const own = [...new Set([commonDir, gitDir, ...linked.map(({ name }) => join(commonDir, 'worktrees', name))])];
  const modules: string[] = [];
  const pending = own.map((dir) => ({ dir: join(dir, 'modules'), depth: 0 }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { dir, depth } = next;
    const entries = await entriesOf(dir);
    const isRepository = ['HEAD', 'objects'].every((name) => entries.some((entry) => entry.name === name));
    if (isRepository) modules.push(dir);
    // A submodule may be named with slashes, and have submodules of its own.
    for (const entry of entries)
      if (entry.isDirectory() && depth < MODULES_DEPTH && (!isRepository || entry.name === 'modules'))
        pending.push({ dir: join(dir, entry.name), depth: depth + 1 });
  }
  return { own, modules };
};

const entriesOf = async (dir: string) => {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
};

const coverFiles = async (git: Git, dir: string, folder: string): Promise<Cover[]> => {
  const covers: Cover[] = [];
  for (const entry of await entriesOf(dir)) {
    if (!entry.isFile()) continue;
    const to = join(dir, entry.name);
    if (!KNOWN_FILES.test(entry.name)) covers.push({ from: null, to });
    if (entry.name !== 'config' && entry.name !== 'config.worktree') continue;
    const text = (await isPlainFile(to)) ? null : await renderSafeConfig(git, to);
    if (text === null) continue;
    const from = join(folder, 'configs', to);
    await mkdir(dirname(from), { recursive: true });
    await writeFile(from, text);
    covers.push({ from, to });
  }
  return covers;
};

const isPlainFile = async (path: string): Promise<boolean> => {
  try {
    return isPlainConfig(await readFile(path, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
};

/** What of the git directory has no objects in it, as the covers leave it. */
const copyKept = async (
  { git, head, commonDir, gitDir }: Repository,
  view: string,
  covers: readonly Cover[],
): Promise<void> => {
  for (const dir of new Set([commonDir, gitDir])) {
    if (!isWithin(commonDir, dir)) continue;
    const into = join(view, relative(commonDir, dir));
    for (const below of ['', 'info']) {
      await mkdir(join(into, below), { recursive: true });
      for (const entry of await entriesOf(join(dir, below))) {
        const from = join(dir, below, entry.name);
        const cover = covers.find(({ to }) => to === from);
        const skipped = cover?.from === null || ['packed-refs', 'shallow'].includes(entry.name);
        if (entry.isFile() && !skipped) await copyFile(cover?.from ?? from, join(into, below, entry.name));
      }
    }
  }
  await mkdir(join(view, 'refs', 'heads'), { recursive: true });
  if (head === null) return;
  const branch = await git.call(['symbolic-ref', '-q', 'HEAD']);
  const name = branch.stdout.toString('utf8').trim();
  if (branch.code === 0) await writeFile(join(view, 'packed-refs'), `${head.commit} ${name}\n`);
  await writeFile(join(view, 'shallow'), `${head.commit}\n`);
};

/** git does not miss the hidden files that it finds empty. */
const passOver = async (
  { repository: { git }, hides }: GitViewOptions,
  tracked: readonly TreeEntry[],
  indexFile: string,
): Promise<void> => {
  const hidden = new Set(tracked.map(({ path }) => path).filter((path) => hides(path)));
  const stdin = [...hidden].map((path) => `${path}\0`).join('');
  // A path of HEAD that the index has not is no entry to mark: git says so and marks the others.
  await git.call(['update-index', '--skip-worktree', '-z', '--stdin'], { stdin, indexFile });
};

/** All objects of HEAD and the index but the contents of hidden paths. */
const packObjects = async (
  { repository, hides }: GitViewOptions,
  tracked: readonly TreeEntry[],
  view: string,
): Promise<void> => {
  const { git, head } = repository;
  const shown = tracked.filter(({ path }) => !hides(path)).map(({ oid }) => oid);
  const trees =
    head === null
      ? []
      : splitNul(await git.run(['ls-tree', '-r', '-t', '-d', '-z', '--full-tree', head.tree])).flatMap((line) => {
          const [, type, oid = ''] = line.toString('latin1', 0, line.indexOf(9)).split(' ');
          return type === 'tree' ? [oid] : [];
        });
  const objects = new Set([...shown, ...trees, ...(head === null ? [] : [head.commit, head.tree])]);
  await mkdir(join(view, 'objects', 'pack'), { recursive: true });
  if (objects.size === 0) return;
  const stdin = `${[...objects].join('\n')}\n`;
  // Of a partial clone some objects are not here: then the agent gets files, and no objects of git.
  await git.call(['pack-objects', '-q', join(view, 'objects', 'pack', 'pack')], { stdin });
};
