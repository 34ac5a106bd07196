import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import os from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { isWithin } from '../sandbox/index.ts';
import { boundCall } from './bound-call.ts';
import { feedPipes, PATIENCE, SHORT_PATIENCE } from './feed-pipes.ts';

/** Settings of command scope for every call: nothing that a tree or a repository's config names is run, fetched or converted. */
const SAFE_CONFIG: Readonly<Record<string, string>> = {
  'safe.directory': '*',
  'safe.bareRepository': 'explicit',
  'protocol.allow': 'never',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.quotePath': 'false',
  // Names that are `.git` on a file system of another machine are refused on this one.
  'core.protectHFS': 'true',
  'core.protectNTFS': 'true',
  'core.sshCommand': 'false',
  'diff.ignoreSubmodules': 'all',
  'submodule.recurse': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'advice.addEmbeddedRepo': 'false',
  // Larger files are streamed by git and never diffed as text: bounds the memory of our own git processes.
  'core.bigFileThreshold': '32m',
  'core.looseCompression': '1',
  'pack.compression': '1',
  'core.preloadIndex': 'true',
  'index.threads': 'true',
};

const SAFE_ENV: Readonly<Record<string, string>> = {
  HOME: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: String(Object.keys(SAFE_CONFIG).length),
  ...Object.fromEntries(Object.keys(SAFE_CONFIG).map((key, at) => [`GIT_CONFIG_KEY_${at}`, key])),
  ...Object.fromEntries(Object.values(SAFE_CONFIG).map((value, at) => [`GIT_CONFIG_VALUE_${at}`, value])),
};

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface GitOptions {
  stdin?: Buffer | string;
  /** Instead of the repository's own index. */
  indexFile?: string;
  /** More output than this kills git and is a `UsageError` with code `too_large`. Default 1 GiB. */
  maxBytes?: number;
  workTree?: string;
  /** Kills git, which then has failed. */
  signal?: AbortSignal;
  /** When the run is to end: git then has little time left, and one that begins later has minutes. One that is ended has failed. */
  stop?: AbortSignal;
  /** Reads the user's own configuration instead of ours. For `git config` alone: it may name programs. */
  userHome?: { home: string; configHome: string };
}

/** One repository as our git calls see it. */
export interface Git {
  /** Resolves with the exit status, whatever it is. */
  call(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** Resolves with stdout; rejects when git fails. */
  run(args: readonly string[], options?: GitOptions): Promise<Buffer>;
}

const STDERR_BYTES = 8192;
const MAX_OUTPUT_BYTES = 1024 ** 3;

/** Signals come in ones and twos. */
export const MOST_TRIES = 5;

/** A signal to belay's process group hits a program that has not left it yet, which is before it does anything: it can be started again. */
export const isStray = (signal: NodeJS.Signals | null): boolean =>
  signal === 'SIGINT' || signal === 'SIGTERM' || signal === 'SIGHUP' || signal === 'SIGQUIT';

/** A git call that failed in a way its caller did not foresee. `code` stays `git_failed`. */
export const gitFailure = (args: readonly string[], result: { code: number; stderr: string }): UsageError =>
  new UsageError(`git ${args[0] ?? ''} failed (${result.code}): ${result.stderr.trim() || 'no message'}`, {
    code: 'git_failed',
  });

/** `program` is absolute (see `findGit`). `env` names the repository: GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE. */
export const createGit = (program: string, cwd: string, env: Readonly<Record<string, string>>): Git => {
  let patience = PATIENCE;
  const callOnce = (args: readonly string[], options: GitOptions): Promise<GitResult & { strayed: boolean }> =>
    new Promise((resolve, reject) => {
      const { stdin, signal: cancel } = options;
      const child = spawn(program, args, {
        cwd,
        env: gitEnv(program, env, options),
        stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        // A Ctrl-C is for belay, which still has to put the workspace back: with git.
        detached: true,
      });
      // Without an id it was not started, and a signal would go to belay's own process group.
      const end = (): void => void (child.pid !== undefined && child.kill('SIGKILL'));
      if (cancel?.aborted) end();
      cancel?.addEventListener('abort', end);
      const bound = boundCall(child, options.stop);
      const tree = options.workTree ?? env['GIT_WORK_TREE'];
      const onFed = (): void => {
        patience = SHORT_PATIENCE;
      };
      const stopFeeding = tree === undefined ? null : feedPipes({ root: tree, patience, onFed });
      const settle = (): void => {
        stopFeeding?.();
        bound.forget();
        cancel?.removeEventListener('abort', end);
      };
      const limit = options.maxBytes ?? MAX_OUTPUT_BYTES;
      const chunks: Buffer[] = [];
      let bytes = 0;
      let stderr = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > limit) end();
        else chunks.push(chunk);
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        if (stderr.length < STDERR_BYTES) stderr += chunk.toString('utf8').slice(0, STDERR_BYTES - stderr.length);
      });
      child.on('error', (error) => {
        settle();
        reject(
          new UsageError(`git cannot be started in ${cwd}: ${error.message}`, { code: 'git_failed', cause: error }),
        );
      });
      child.on('close', (code, signal) => {
        settle();
        if (bytes > limit) reject(tooMuch(args, limit));
        else
          resolve({
            code: code ?? exitCodeOf(signal),
            stdout: Buffer.concat(chunks),
            stderr: signal ? `${stderr}killed by ${signal}` : stderr,
            strayed: isStray(signal) && !bound.isEnded(),
          });
      });
      // git may end before it has read everything (EPIPE); its exit status then tells.
      child.stdin?.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
      child.stdin?.end(stdin);
    });
  return gitOf(async (args, options = {}) => {
    for (let tries = 1; ; tries++) {
      const { strayed, ...result } = await callOnce(args, options);
      if (!strayed || tries >= MOST_TRIES) return result;
    }
  });
};

export const gitOf = (call: Git['call']): Git => ({
  call,
  run: async (args, options) => {
    const result = await call(args, options);
    if (result.code !== 0) throw gitFailure(args, result);
    return result.stdout;
  },
});

/** The same git, whose calls the run's end ends (see `GitOptions.stop`). */
export const endedBy = (stop: AbortSignal | undefined, git: Git): Git =>
  stop === undefined ? git : gitOf((args, options) => git.call(args, { stop, ...options }));

/** As a shell tells it: git's own 128 means that it gave up by itself. */
const exitCodeOf = (signal: NodeJS.Signals | null): number =>
  128 + (signal === null ? 0 : os.constants.signals[signal]);

const tooMuch = (args: readonly string[], limit: number): UsageError =>
  new UsageError(`git ${args[0] ?? ''} printed more than ${limit} bytes`, { code: 'too_large' });

const gitEnv = (
  program: string,
  env: Readonly<Record<string, string>>,
  options: GitOptions,
): Record<string, string> => {
  const all: Record<string, string> = {
    PATH: [dirname(program), '/usr/bin', '/bin'].join(delimiter),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    // Names one of our own indexes or none: the user's is never refreshed by us.
    GIT_OPTIONAL_LOCKS: env['GIT_INDEX_FILE'] === undefined ? '0' : '1',
    ...env,
    ...(options.userHome === undefined
      ? SAFE_ENV
      : { HOME: options.userHome.home, XDG_CONFIG_HOME: options.userHome.configHome }),
  };
  if (options.indexFile !== undefined) all['GIT_INDEX_FILE'] = options.indexFile;
  if (options.workTree !== undefined) all['GIT_WORK_TREE'] = options.workTree;
  return all;
};

/**
 * The absolute path of git. Entries of PATH that are relative or lie in the folder under work are passed over: `npm run` puts
 * `node_modules/.bin` there, where the agent may write.
 */
export const findGit = async (path: string, outsideOf: string): Promise<string> => {
  for (const entry of path.split(delimiter)) {
    if (!isAbsolute(entry)) continue;
    try {
      await access(join(entry, 'git'), constants.X_OK);
      const real = await realpath(join(entry, 'git'));
      const folder = await realpath(entry);
      if (!isWithin(outsideOf, real) && !isWithin(outsideOf, folder)) return join(folder, 'git');
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error;
    }
  }
  throw new UsageError('git is not on PATH; belay needs git 2.38 or later', { code: 'git_missing' });
};

/** Splits `-z` output. */
export const splitNul = (buffer: Buffer): Buffer[] => {
  const parts: Buffer[] = [];
  for (let start = 0; start < buffer.length; ) {
    const end = buffer.indexOf(0, start);
    parts.push(buffer.subarray(start, end < 0 ? buffer.length : end));
    start = end < 0 ? buffer.length : end + 1;
  }
  return parts;
};
