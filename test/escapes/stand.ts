import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { Event, type Result } from '../../src/events/index.ts';
import { processesWith, sleepMark } from '../sandbox/fixture.ts';
import { type Bench, CLI, commitAll, createBench } from '../scenario.ts';
import { PIPELINE_FILES, PIPELINE_TOKENS, TOKEN_VALUE } from './pipeline.ts';

const SECRET_NAME = 'HARNESS_SECRET';
export const RULE = 'the rule\n';
const FILES: Readonly<Record<string, string>> = {
  '.github/workflows/ci.yml': 'on: push\n',
  'kept/deep/kept.txt': RULE,
  'kept/other/kept.txt': RULE,
  'node_modules/.bin/runner': 'exit 1\n',
  'guard-over/rule.txt': RULE,
  'guard-link/rule.txt': RULE,
  'guard-symlink/rule.txt': RULE,
  'guard-remove/rule.txt': RULE,
  'guard-mode/rule.txt': RULE,
  'guard-move/rule.txt': RULE,
  'guard-swap/rule.txt': RULE,
  'guard-exchange/rule.txt': RULE,
  'guard-cut/rule.txt': RULE,
  '.gitignore': '.env*\nprivate/\nhidden-away/\n',
};
const HIDDEN = {
  '.env': 'hidden\n',
  '.env.local': 'hidden\n',
  'private/key.txt': 'hidden\n',
  'hidden-away/key.txt': 'hidden\n',
};

/** A machine in small: a repository under work, and beside it what an escape would want. */
export interface Stand {
  bench: Bench;
  /** Names for the commands' environment. */
  names: Readonly<Record<string, string>>;
  /** What is at a path (see `Attempt.changes`) now, in one line. */
  look(changes: string): string;
  remove(): Promise<void>;
}

/** `uid`: who owns it all, where the test is root and belay is to be somebody else. */
export async function createStand(uid: number | undefined): Promise<Stand> {
  const bench = createBench(FILES);
  const at = (...parts: string[]): string => path.join(bench.root, ...parts);
  const out = at('outside');
  execFileSync('mkdir', ['-p', out, at('home/.ssh')]);
  for (const name of ['mine', 'other', 'cut', 'gone', 'mode', 'github-env', ...PIPELINE_FILES])
    writeFileSync(path.join(out, name), 'mine\n');
  for (const name of ['.npmrc', '.bashrc', '.ssh/id']) writeFileSync(at('home', name), 'token\n');
  writeFileSync(at('left-open'), 'left-open\n');
  symlinkSync(out, path.join(bench.ws, 'planted'));
  symlinkSync(path.join(out, 'mine'), path.join(bench.ws, 'planted-file'));
  commitAll(bench);
  for (const [name, text] of Object.entries(HIDDEN)) bench.write(name, text);
  chmodSync(bench.root, 0o755);

  const abstract = path.basename(bench.root);
  const servers: Server[] = [];
  const listen = async (where: string | number): Promise<Server> => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('hello'));
    servers.push(server);
    server.listen(where);
    await once(server, 'listening');
    return server;
  };
  const address = (await listen(0)).address();
  await listen(at('socket'));
  await listen(`\0${abstract}`);
  chmodSync(at('socket'), 0o777);
  const udp = createSocket('udp4').on('message', (_, from) => udp.send('got it', from.port, from.address));
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  const segment = /(\d+)/.exec(execFileSync('ipcmk', ['-M', '4096', '-p', '0644'], { encoding: 'utf8' }))?.[1] ?? '';
  const queue = /(\d+)/.exec(execFileSync('ipcmk', ['-Q', '-p', '0666'], { encoding: 'utf8' }))?.[1] ?? '';
  const mark = sleepMark();
  const names = {
    OUT: out,
    WS: bench.ws,
    HOST_HOME: at('home'),
    SOCKET: at('socket'),
    ABSTRACT: abstract,
    PORT: String(address !== null && typeof address === 'object' ? address.port : 0),
    UDP_PORT: String(udp.address().port),
    SEGMENT: segment,
    QUEUE: queue,
    MARK: mark,
  };
  if (uid !== undefined) execFileSync('chown', ['-R', '-h', `${uid}:${uid}`, bench.root]);
  return {
    bench,
    names,
    look: (changes) =>
      changes === 'process' ? String(processesWith(mark).length) : lookAt(path.resolve(bench.ws, changes)),
    async remove() {
      for (const server of servers) server.close();
      udp.close();
      execFileSync('ipcrm', ['-m', segment, '-q', queue]);
      for (const pid of processesWith(mark)) process.kill(pid, 'SIGKILL');
      bench.remove();
    },
  };
}

function lookAt(file: string): string {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 'nothing';
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(file)}`;
  if (stat.isDirectory()) return `folder of ${readdirSync(file).join(', ')}`;
  return `${(stat.mode & 0o777).toString(8)} ${readFileSync(file, 'latin1')}`;
}

export interface StandRun {
  code: number | null;
  stderr: string;
  /** The output of each command and check, by its text. */
  outputs: ReadonlyMap<string, string>;
  result: Result;
}

/** How a program is started as `uid` where belay is: with secrets in its environment and a file left open, and its own process id passed on. */
function startOn({ bench, names }: Stand, uid: number | undefined, program: readonly string[]) {
  const wrapped = ['sh', '-c', `exec 9< '${bench.root}/left-open'; HARNESS=$$ exec "$@"`, 'sh', ...program];
  const become =
    uid === undefined ? [] : ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--'];
  const [file = '', ...args] = [...become, ...wrapped];
  const runner = {
    ...Object.fromEntries(PIPELINE_FILES.map((name) => [name, path.join(bench.root, 'outside', name)])),
    ...Object.fromEntries(PIPELINE_TOKENS.map((name) => [name, TOKEN_VALUE])),
  };
  return { file, args, env: { ...bench.env, ...names, ...runner, [SECRET_NAME]: 'value' }, cwd: bench.ws };
}

/** What a script says in a plain shell in belay's place, its output a file. */
export function runPlainly(stand: Stand, uid: number | undefined, script: string): string {
  const { file, args, env, cwd } = startOn(stand, uid, ['bash', '-c', script]);
  const log = path.join(stand.bench.io, 'plain');
  const fd = openSync(log, 'w');
  spawnSync(file, args, { env, cwd, stdio: ['ignore', fd, fd] });
  closeSync(fd);
  return readFileSync(log, 'utf8');
}

/** Runs the CLI. */
export async function runOn(stand: Stand, uid: number | undefined, cliArgs: readonly string[]): Promise<StandRun> {
  const { file, args, env, cwd } = startOn(stand, uid, [process.execPath, CLI, ...cliArgs]);
  const child = spawn(file, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  await once(child, 'close');
  const outputs = new Map<string, string>();
  let result: Result | null = null;
  for (const line of texts.stdout.split('\n').filter(Boolean)) {
    const event = Event.parse(JSON.parse(line));
    if (event.type === 'run.completed') result = event.result;
    if (event.type !== 'item.completed') continue;
    const { item } = event;
    if (item.type === 'command_execution' || item.type === 'check')
      outputs.set(item.command, `${outputs.get(item.command) ?? ''}${item.aggregated_output}`);
  }
  if (result === null) throw new Error(`no result: ${texts.stderr}`);
  return { code: child.exitCode, stderr: texts.stderr, outputs, result };
}
