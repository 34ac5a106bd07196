import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { Event, type Result } from '../src/events/index.ts';

export const CLI = join(import.meta.dirname, '../dist/cli.js');

/** Folders of one test: a git repository, a folder for the harness's files, and a home and state of its own. */
export interface Bench {
  root: string;
  ws: string;
  io: string;
  env: NodeJS.ProcessEnv;
  /** Who runs belay and owns it all, where the test is root and belay is to be somebody else. */
  uid: number | undefined;
  git(...args: string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
  remove(): void;
}

export function createBench(files: Readonly<Record<string, string>> = {}, uid?: number): Bench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-test-')));
  const ws = join(root, 'ws');
  const io = join(root, 'io');
  for (const dir of [ws, io, join(root, 'home'), join(root, 'state')]) mkdirSync(dir);
  const identity = {
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.invalid',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.invalid',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
  const env = {
    PATH: process.env['PATH'],
    HOME: join(root, 'home'),
    XDG_STATE_HOME: join(root, 'state'),
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const bench: Bench = {
    root,
    ws,
    io,
    env,
    uid,
    git: (...args) =>
      execFileSync('git', args, {
        cwd: ws,
        env: { ...env, ...identity },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    write(path, text) {
      mkdirSync(join(ws, path, '..'), { recursive: true });
      writeFileSync(join(ws, path), text);
    },
    read: (path) => readFileSync(join(ws, path), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  for (const [path, text] of Object.entries(files)) bench.write(path, text);
  bench.git('init', '-q', '-b', 'main');
  return bench;
}

export function commitAll(bench: Bench): string {
  bench.git('add', '-A', '-f');
  bench.git('commit', '-q', '--allow-empty', '-m', 'base');
  return bench.git('rev-parse', 'HEAD').trim();
}

/** A cassette of these answers, beside the workspace: its path. */
export function writeCassette(bench: Bench, answers: readonly object[]): string {
  const path = join(bench.io, 'model.jsonl');
  writeFileSync(path, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
  return path;
}

export interface CliEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  events: Event[];
  result: Result | null;
}

export interface CliOptions {
  env?: NodeJS.ProcessEnv;
  stdin?: string;
  cwd?: string;
  cli?: string;
  /** A file in the place of the pipe: nothing is read of it then. */
  stdout?: string;
  /** A file that belay finds open as descriptor 3. */
  fd3?: string;
  /** Called with all that stdout carried so far. */
  onOutput?(stdout: string, child: ChildProcess): void;
}

/** Runs the built CLI and reads its stream strictly: a line that is no event fails the test. */
export function runCli(args: readonly string[], bench: Bench, options: CliOptions = {}): Promise<CliEnd> {
  const { root, uid } = bench;
  if (uid !== undefined) execFileSync('chown', ['-R', '-h', `${uid}:${uid}`, root]);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [options.cli ?? CLI, ...args], {
      ...(uid === undefined ? {} : { uid, gid: uid }),
      cwd: options.cwd ?? bench.ws,
      env: { ...bench.env, ...options.env },
      stdio: [
        'pipe',
        options.stdout === undefined ? 'pipe' : openSync(options.stdout, 'w'),
        'pipe',
        ...(options.fd3 === undefined ? [] : [openSync(options.fd3, 'r')]),
      ],
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onOutput?.(stdout, child);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin?.end(options.stdin ?? '');
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const events = stdout.startsWith('{"')
        ? stdout
            .trimEnd()
            .split('\n')
            .map((line) => Event.parse(JSON.parse(line)))
        : [];
      const last = events.at(-1);
      resolve({ code, signal, stdout, stderr, events, result: last?.type === 'run.completed' ? last.result : null });
    });
  });
}

/** Every file below a folder as {path: content}; links as `-> target`, executables with a leading `x:`; `.git` left out. */
export function treeOf(dir: string, below = ''): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of readdirSync(join(dir, below)).sort()) {
    if (name === '.git') continue;
    const path = below === '' ? name : `${below}/${name}`;
    const at = join(dir, path);
    const info = lstatSync(at);
    if (info.isSymbolicLink()) out[path] = `-> ${readlinkSync(at)}`;
    else if (info.isDirectory()) Object.assign(out, treeOf(dir, path));
    else out[path] = (statSync(at).mode & 0o100 ? 'x:' : '') + readFileSync(at, 'latin1');
  }
  return out;
}

/** Characters that move a cursor, colour a text or overwrite a line; not the end of a line and the tab. */
export const controlsIn = (text: string): string[] =>
  [...text.replace(/[\n\t]/g, '')].filter((one) => /\p{Cc}/u.test(one));

/** What `result.json` of a scenario asserts: fields of the result, as far as they are named. */
export const Expected = z.strictObject({
  exit_code: z.int(),
  outcome: z.string(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  /** Sent once the stream shows the first event of this type. */
  signal: z.strictObject({ at: z.string(), name: z.enum(['SIGINT', 'SIGTERM']) }).optional(),
  /** A run with the cassette `beside.jsonl` is at work in the same folder. */
  beside: z.boolean().optional(),
  /** What stdout is instead of a pipe. */
  stdout: z.string().optional(),
  /** Types of events that the stream must not have. */
  never: z.array(z.string()).optional(),
});

/** Lays a scenario folder out in a fresh repository. */
export function layOutScenario(dir: string): Bench {
  const bench = createBench();
  if (existsSync(join(dir, 'input'))) cpSync(join(dir, 'input'), bench.ws, { recursive: true, verbatimSymlinks: true });
  if (existsSync(join(dir, 'belay.yml'))) cpSync(join(dir, 'belay.yml'), join(bench.ws, 'belay.yml'));
  commitAll(bench);
  return bench;
}
