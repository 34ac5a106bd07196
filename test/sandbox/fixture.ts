import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NetworkAccess, SandboxPolicy } from '../../src/policy/index.ts';
import {
  type CommandEnd,
  type Mount,
  type NetworkDecision,
  probeSandbox,
  type Sandbox,
  type SandboxProbe,
} from '../../src/sandbox/index.ts';

export const MIB = 1024 * 1024;
export const IS_LINUX = process.platform === 'linux';
export const IS_ROOT = process.geteuid?.() === 0;
/** Whether the kernel has the Landlock that belay needs. */
export const HAS_LANDLOCK =
  IS_LINUX && spawnSync('perl', ['-e', 'exit(syscall(444, 0, 0, 1) < 3)'], { stdio: 'ignore' }).status === 0;
/** Any uid but root's will do: no account is needed. */
export const OTHER_UID = 1001;

export const POLICY: SandboxPolicy = {
  mode: 'workspace-write',
  require: 'any',
  network: { mode: 'none' },
  env: { pass: [], set: {} },
  readable: [],
  services: [],
  home: 'private',
  memoryBytes: 2048 * MIB,
  processes: 200,
  fileSizeBytes: 1024 * MIB,
  diskBytes: 16 * 1024 * MIB,
  outputBytes: 4 * 1024 * MIB,
};

export interface Folders {
  root: string;
  /** The folder under work. */
  ws: string;
  /** HOME of the commands. */
  home: string;
  /** Must stay as it is. */
  outside: string;
  write(file: string, text?: string): string;
  read(file: string): string;
  remove(): void;
}

/** Folders that every user may pass, given to `uid` when belay's user is root. */
export function createFolders(uid?: number): Folders {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'belay-test-')));
  chmodSync(root, 0o755);
  const [ws, home, outside] = [path.join(root, 'ws'), path.join(root, 'home'), path.join(root, 'outside')];
  const own = (file: string): void => {
    if (uid !== undefined) chownSync(file, uid, uid);
  };
  for (const dir of [ws, home, outside]) mkdirSync(dir);
  for (const dir of [root, ws, home, outside]) own(dir);
  return {
    root,
    ws,
    home,
    outside,
    write(file, text = '') {
      const at = path.resolve(ws, file);
      for (let dir = path.dirname(at); mkdirSync(dir, { recursive: true }) !== undefined; ) own(dir);
      writeFileSync(at, text);
      for (let part = at; part.startsWith(`${root}/`); part = path.dirname(part)) own(part);
      return at;
    },
    read: (file) => readFileSync(path.resolve(ws, file), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function mountOf(from: string, access: Mount['access'], to = from): Mount {
  return { from, to, access };
}

export interface ProbeChanges {
  policy?: Partial<SandboxPolicy>;
  mounts?: readonly Mount[];
  env?: Record<string, string | undefined>;
  reachesOut?: boolean;
}

export function probeIn(folders: Folders, changes: ProbeChanges = {}): Promise<SandboxProbe> {
  return probeSandbox({
    policy: { ...POLICY, ...changes.policy },
    mounts: changes.mounts ?? [mountOf(folders.ws, 'write')],
    workdir: folders.ws,
    home: folders.home,
    env: changes.env ?? process.env,
    reachesOut: changes.reachesOut ?? false,
    signal: new AbortController().signal,
  });
}

export async function openIn(folders: Folders, changes: ProbeChanges = {}): Promise<Sandbox> {
  const probe = await probeIn(folders, changes);
  if (probe.kind === 'unavailable') throw new Error(probe.reason);
  return probe.sandbox;
}

export interface Ran extends CommandEnd {
  output: string;
  network: NetworkDecision[];
}

export interface RunChanges {
  mounts?: readonly Mount[];
  env?: Record<string, string>;
  timeoutMs?: number;
  workdir?: string;
  network?: NetworkAccess;
  serves?: boolean;
  moreFollow?: boolean;
  signal?: AbortSignal;
  onOutput?(chunk: Buffer): Promise<void> | void;
}

export async function runIn(
  sandbox: Sandbox,
  folders: Folders,
  script: string,
  changes: RunChanges = {},
): Promise<Ran> {
  const chunks: Buffer[] = [];
  const network: NetworkDecision[] = [];
  const end = await sandbox.run(
    {
      script,
      workdir: changes.workdir ?? folders.ws,
      env: { LANG: 'C.UTF-8', ...changes.env },
      mounts: changes.mounts ?? [mountOf(folders.ws, 'write')],
      home: folders.home,
      network: changes.network ?? { mode: 'none' },
      onNetwork: (decision) => network.push(decision),
      serves: changes.serves ?? false,
      moreFollow: changes.moreFollow ?? false,
      timeoutMs: changes.timeoutMs ?? 30_000,
      onOutput: changes.onOutput ?? ((chunk) => void chunks.push(Buffer.from(chunk))),
    },
    changes.signal ?? new AbortController().signal,
  );
  return { ...end, output: Buffer.concat(chunks).toString('utf8'), network };
}

/** A number that is a valid argument of `sleep` and that no other process has. */
export function sleepMark(): string {
  return `${300 + (process.pid % 300)}.${String(Math.random()).slice(2, 12)}1`;
}

/** Ids of running processes with this argument. */
export function processesWith(argument: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const isZombie = /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
        return !isZombie && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(argument);
      } catch (error) {
        if (error instanceof Error && 'code' in error) return false;
        throw error;
      }
    });
}

/** Ids of running shells with this mark in their environment as MARK. */
export const shellsWith = (mark: string): number[] =>
  processesWith('bash').filter((pid) => readOf(pid, 'environ').includes(`MARK=${mark}\0`));

/** '' of a process that is gone. */
export const readOf = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
};
