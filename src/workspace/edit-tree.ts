import { createHash } from 'node:crypto';
import { hasCode } from '../errors.ts';
import type { Git } from './git.ts';
import { statBelow } from './stat-below.ts';
import { ancestors, deepestFirst } from './text-path.ts';

export interface TreeEdit {
  root: string;
  /** The tree to begin with. */
  from: string;
  /** At least one. Files of `from` that are files on disk get the contents and the executable bit that they have there. */
  paths: readonly string[];
}

/** More is left to the index, which then knows the files again and need not have them read each time. */
const MOST_PATHS = 8;
const MOST_BYTES = 1024 * 1024;

/**
 * The tree with other contents of a few files, made of the folders above them alone: neither reads nor writes the index, which in a big
 * workspace takes several times as long. null where that does not do: new, removed and very large files, links, odd names.
 */
export const editTree = async (git: Git, { root, from, paths }: TreeEdit): Promise<string | null> => {
  const modes = paths.length > MOST_PATHS ? null : plainFiles(root, paths);
  if (modes === null) return null;
  const folders = [...new Set(['', ...paths.flatMap(ancestors)])].sort(deepestFirst);
  const [hashed, trees] = await Promise.all([
    git.call(['hash-object', '-w', '--stdin-paths'], { stdin: paths.map((path) => `${path}\n`).join('') }),
    readTrees(git, { from, folders }),
  ]);
  const oids = hashed.stdout.toString('latin1').trimEnd().split('\n');
  if (hashed.code !== 0 || trees === null || oids.length !== paths.length) return null;
  for (const [i, path] of paths.entries()) {
    const entry = entryAt(trees, path);
    if (entry === undefined || !FILE_MODES.has(entry.mode)) return null;
    entry.oid = oids[i] ?? '';
    entry.mode = modes.get(path) ?? entry.mode;
  }
  return writeTrees(git, { folders, trees });
};

const FILE_MODES: ReadonlySet<string> = new Set(['100644', '100755']);
const ANY_EXECUTE = 0o100;

/** Mode by path; null where one is no plain file, or all together are too large. */
const plainFiles = (root: string, paths: readonly string[]): Map<string, string> | null => {
  const modes = new Map<string, string>();
  const folders = new Map<string, boolean>();
  let bytes = 0;
  try {
    for (const path of paths) {
      // `hash-object` takes a line for a path, and a quote at its beginning for a quoted one.
      if (path.includes('\n') || path.startsWith('"')) return null;
      const stats = statBelow(root, path, folders);
      bytes += stats?.size ?? 0;
      if (!stats?.isFile() || bytes > MOST_BYTES) return null;
      modes.set(path, (stats.mode & ANY_EXECUTE) === 0 ? '100644' : '100755');
    }
  } catch (error) {
    if (hasCode(error, 'EACCES')) return null;
    throw error;
  }
  return modes;
};

interface Entry {
  mode: string;
  /** Latin-1: each character a byte, as git sorts them. */
  name: string;
  oid: string;
}

type Trees = Map<string, Entry[]>;

const entryAt = (trees: Trees, path: string): Entry | undefined => {
  const slash = path.lastIndexOf('/');
  const name = Buffer.from(path.slice(slash + 1)).toString('latin1');
  return trees.get(path.slice(0, Math.max(0, slash)))?.find((entry) => entry.name === name);
};

const readTrees = async (
  git: Git,
  { from, folders }: { from: string; folders: readonly string[] },
): Promise<Trees | null> => {
  const stdin = folders.map((folder) => `${from}:${folder}\0`).join('');
  const { code, stdout } = await git.call(['cat-file', '--batch', '-z'], { stdin });
  const trees: Trees = new Map();
  let at = 0;
  for (const folder of folders) {
    const end = stdout.indexOf(NEWLINE, at);
    const [, size] = /^[0-9a-f]+ tree (\d+)$/.exec(stdout.toString('latin1', at, Math.max(at, end))) ?? [];
    if (code !== 0 || size === undefined) return null;
    trees.set(folder, parseTree(stdout.subarray(end + 1, end + 1 + Number(size)), from.length / 2));
    at = end + 1 + Number(size) + 1;
  }
  return trees;
};

const NEWLINE = 10;

const parseTree = (raw: Buffer, oidBytes: number): Entry[] => {
  const entries: Entry[] = [];
  for (let at = 0; at < raw.length; ) {
    const end = raw.indexOf(0, at);
    const [, mode = '', name = ''] = /^(\d+) (.*)$/s.exec(raw.toString('latin1', at, end)) ?? [];
    at = end + 1 + oidBytes;
    entries.push({ mode, name, oid: raw.toString('hex', end + 1, at) });
  }
  return entries;
};

/** From the deepest up: each folder's new id goes into the one above it. All are written by one git, which gives the same ids. */
const writeTrees = async (
  git: Git,
  { folders, trees }: { folders: readonly string[]; trees: Trees },
): Promise<string | null> => {
  const ids: string[] = [];
  const lines: Buffer[] = [];
  for (const folder of folders) {
    const entries = trees.get(folder) ?? [];
    const id = treeId(entries);
    ids.push(id);
    for (const { mode, name, oid } of entries)
      lines.push(Buffer.from(`${mode.padStart(6, '0')} ${TYPES.get(mode) ?? 'blob'} ${oid}\t${name}\0`, 'latin1'));
    lines.push(Buffer.from('\0'));
    const above = folder === '' ? undefined : entryAt(trees, folder);
    if (above !== undefined) above.oid = id;
  }
  const made = await git.call(['mktree', '-z', '--batch', '--missing'], { stdin: Buffer.concat(lines) });
  return made.code === 0 && made.stdout.toString('latin1').trimEnd() === ids.join('\n') ? (ids.at(-1) ?? null) : null;
};

const TYPES: ReadonlyMap<string, string> = new Map([
  ['40000', 'tree'],
  ['160000', 'commit'],
]);

const treeId = (entries: readonly Entry[]): string => {
  const raw = Buffer.concat(
    entries.flatMap(({ mode, name, oid }) => [Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
  );
  const isSha256 = entries[0]?.oid.length === 64;
  return createHash(isSha256 ? 'sha256' : 'sha1')
    .update(`tree ${raw.length}\0`)
    .update(raw)
    .digest('hex');
};
