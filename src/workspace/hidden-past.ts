import { join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../errors.ts';
import { type Git, splitNul } from './git.ts';
import type { Repository } from './locate-repository.ts';

export interface PastSearch {
  git: Git;
  /** Whose objects are looked at: a git directory. */
  dir: string;
  /** Of its work tree, relative to the root, with a `/` at its end; '' for the root. */
  prefix: string;
  /** Texts of which every hidden path has one. */
  literals: readonly string[];
  hides(path: string): boolean;
  signal: AbortSignal;
}

/** Names of paths that changed; more is not read. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Whether a commit of any branch, tag, stash or reflog, or an index of any work tree, has or had a path that the policy hides: then git's
 * objects hold its contents. True as well where git cannot tell, or not before `signal` aborts.
 */
export const hasHiddenPast = async (search: PastSearch): Promise<boolean> => {
  // A text that the prefix holds says nothing of the names below it.
  const pathspecs = search.literals.map((literal) =>
    search.prefix.includes(literal) ? '*' : `*${literal.replace(/[*?[\\]/g, '\\$&')}*`,
  );
  const list = (command: readonly string[], stdin?: Buffer): Promise<Buffer | null> => listPast(search, command, stdin);
  // What is tracked now is found without a walk through the commits.
  const staged = await list(['rev-list', '--objects', '--indexed-objects']);
  if (staged === null) return true;
  if (
    hidesAny(
      search,
      linesOf(staged).map((line) => line.subarray(line.indexOf(' ') + 1)),
    )
  )
    return true;
  const touching = await list(['rev-list', '--all', '--reflog', '--full-history', '--', ...pathspecs]);
  if (touching === null || touching.length === 0) return touching === null;
  // Against each parent of a merge: what it adds to one of them may be in no other commit.
  const each = ['diff-tree', '--stdin', '-r', '-m', '--root', '--no-renames', '--name-only', '--no-commit-id', '-z'];
  const changed = await list([...each, '--', ...pathspecs], touching);
  return changed === null || hidesAny(search, splitNul(changed));
};

const hidesAny = ({ prefix, literals, hides }: PastSearch, names: readonly Buffer[]): boolean =>
  names.some(
    (name) =>
      literals.some((literal) => prefix.includes(literal) || name.includes(literal)) &&
      hides(prefix + name.toString('utf8')),
  );

const linesOf = (text: Buffer): Buffer[] => {
  const lines: Buffer[] = [];
  for (let start = 0, end = text.indexOf(10); end >= 0; start = end + 1, end = text.indexOf(10, start))
    lines.push(text.subarray(start, end));
  return lines;
};

const listPast = async (
  { git, dir, signal }: PastSearch,
  command: readonly string[],
  stdin: Buffer | undefined,
): Promise<Buffer | null> => {
  const options = { signal, maxBytes: MOST_BYTES, ...(stdin === undefined ? {} : { stdin }) };
  try {
    const { code, stdout } = await git.call(['--no-literal-pathspecs', `--git-dir=${dir}`, ...command], options);
    return code === 0 ? stdout : null;
  } catch (error) {
    if (error instanceof UsageError && error.code === 'too_large') return null;
    throw error;
  }
};

/** The folder that a submodule's git directory is of, as a prefix of its paths; null where it does not say, or names one elsewhere. */
export const submodulePrefix = async ({ git, root }: Repository, dir: string): Promise<string | null> => {
  const set = await git.call(['config', '-f', join(dir, 'config'), 'core.worktree']);
  const below = relative(root, resolve(dir, set.stdout.toString('utf8').trim()));
  return set.code !== 0 || below.startsWith('..') ? null : `${below.split(sep).join('/')}/`;
};
