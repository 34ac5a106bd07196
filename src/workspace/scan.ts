import type { UsageError } from '../errors.ts';
import { type Git, gitFailure, splitNul } from './git.ts';
import { textPath } from './text-path.ts';

/** What differs from our index, by stat data first: git reads only files whose stat changed. */
export interface Scan {
  /** Tracked paths to look at again: changed, gone or in conflict. */
  touched: readonly string[];
  /** Files and links that the index does not know. */
  untracked: readonly string[];
  /** Folders (no `/` at the end) with a repository of their own that the index does not know. */
  nested: readonly string[];
  /** Ignored files and folders (no `/` at the end), where asked for: each matches a rule itself. */
  ignored: readonly string[];
  /** git's warnings: folders it could not read are among them. */
  complaints: string;
}

/**
 * `--ignore-submodules=all` is a wall: without it git runs `git status` inside of each submodule, under that repository's own
 * configuration (whose fsmonitor is a program).
 */
export const STATUS = [
  'status',
  ...['--porcelain=v2', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=all'],
];

/**
 * `only`: paths; no other entry is compared with the disk. `trackedOnly`: what the index does not know is not looked for. `explain`: what to
 * throw where git gives up by itself.
 */
export const scanWorkTree = async (
  git: Git,
  options: {
    ignored?: boolean;
    only?: readonly string[];
    trackedOnly?: boolean;
    explain?(failure: UsageError): Promise<UsageError>;
  } = {},
): Promise<Scan> => {
  const only = options.only === undefined ? [] : ['--', ...options.only];
  const kinds = options.trackedOnly === true ? ['--untracked-files=no'] : [];
  const args = [...STATUS, ...kinds, ...(options.ignored === true ? ['--ignored=matching'] : []), ...only];
  const result = await git.call(args);
  if (result.code !== 0) {
    const failure = gitFailure(args, result);
    throw result.code === GAVE_UP ? ((await options.explain?.(failure)) ?? failure) : failure;
  }
  const touched: string[] = [];
  const untracked: string[] = [];
  const nested: string[] = [];
  const ignored: string[] = [];
  for (const entry of splitNul(result.stdout)) {
    const kind = String.fromCharCode(entry[0] ?? 0);
    if (kind === '?') {
      const path = textPath(entry.subarray(2));
      if (path.endsWith('/')) nested.push(path.slice(0, -1));
      else untracked.push(path);
    } else if (kind === '!') {
      ignored.push(textPath(entry.subarray(2)).replace(/\/$/, ''));
    } else if (kind === 'u') {
      touched.push(textPath(afterFields(entry, 10)));
    } else if (kind === '1' && entry[3] !== DOT) {
      touched.push(textPath(afterFields(entry, 8)));
    }
  }
  return { touched, untracked, nested, ignored, complaints: result.stderr.trim() };
};

/** How git exits that says `fatal:`. */
export const GAVE_UP = 128;
const DOT = 46;
const SPACE = 32;

/** The rest of an entry behind `count` fields, each ended by a space. */
const afterFields = (entry: Buffer, count: number): Buffer => {
  let at = 0;
  for (let field = 0; field < count; field += 1) at = entry.indexOf(SPACE, at) + 1;
  return entry.subarray(at);
};
