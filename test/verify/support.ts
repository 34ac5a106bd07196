import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { EventBody, Item } from '../../src/events/index.ts';
import type { Check, SandboxPolicy, VerifyPolicy } from '../../src/policy/index.ts';
import { probeSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import type { Baseline, CheckPorts, CheckRun, Place } from '../../src/verify/index.ts';

export type Files = Readonly<Record<string, string>>;

export function checkOf(run: string, more: Partial<Check> = {}): Check {
  return {
    name: 'tests',
    run,
    timeoutMs: 20_000,
    required: true,
    before: 'any',
    when: 'both',
    workdir: null,
    env: { pass: [], set: {} },
    network: null,
    expect: { matches: null, testsNotFewer: false },
    ...more,
  };
}

export function verifyOf(checks: readonly Check[], more: Partial<VerifyPolicy> = {}): VerifyPolicy {
  return {
    checks,
    checksDeclaredEmpty: false,
    require: 'any',
    cleanRoom: { carry: 'auto', freeze: [], pristineTests: true },
    holdout: [],
    flakyRetries: 0,
    ...more,
  };
}

export function runOf(name: string, more: Partial<CheckRun> = {}): CheckRun {
  return {
    name,
    command: `run ${name}`,
    required: true,
    status: 'passed',
    exitCode: 0,
    durationMs: 10,
    output: { text: 'out', omission: null, sha256: 'a'.repeat(64), tail: 'out' },
    tests: null,
    reason: null,
    flaky: false,
    wallTimeOver: false,
    ...more,
  };
}

export const red = (name: string, more: Partial<CheckRun> = {}): CheckRun =>
  runOf(name, { status: 'failed', exitCode: 1, reason: 'ended with exit status 1', ...more });

export const baselineOf = (...runs: CheckRun[]): Baseline => ({ runs });

/** A folder of its own outside any repository; `dispose` removes it. */
export function tempFolder(files: Files = {}): { dir: string; write(files: Files): void; dispose(): void } {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'belay-verify-')));
  const write = (more: Files) => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
      writeFileSync(path.join(dir, name), text);
    }
  };
  write(files);
  return { dir, write, dispose: () => rmSync(dir, { recursive: true, force: true }) };
}

const { PATH = '', HOME = '' } = process.env;

export function git(dir: string, ...args: string[]): string {
  const env = { PATH, GIT_CONFIG_NOSYSTEM: '1', HOME: dir };
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
  return execFileSync('git', ['-C', dir, ...identity, ...args], { env, encoding: 'utf8' });
}

const POLICY: SandboxPolicy = {
  mode: 'workspace-write',
  require: 'any',
  network: { mode: 'none' },
  env: { pass: [], set: {} },
  readable: [],
  services: [],
  home: 'private',
  memoryBytes: 2 ** 31,
  processes: 256,
  fileSizeBytes: 2 ** 30,
  diskBytes: 2 ** 34,
  outputBytes: 2 ** 32,
};

/** The real sandbox of a tier over `dir`, or why there is none here. */
export async function openSandbox(mode: 'off' | 'workspace-write', dir: string): Promise<Sandbox | string> {
  const probe = await probeSandbox({
    policy: { ...POLICY, mode },
    mounts: [{ from: dir, to: dir, access: 'write' }],
    workdir: dir,
    home: dir,
    env: { PATH, HOME },
    signal: AbortSignal.timeout(30_000),
  });
  return probe.kind === 'works' ? probe.sandbox : probe.reason;
}

export interface Bench {
  ports: CheckPorts;
  events: EventBody[];
  /** Completed check items, in order. */
  items(): Extract<Item, { type: 'check' }>[];
}

/** Ports for checks over a real sandbox; what was emitted is kept. */
export function benchOf(sandbox: Sandbox, homeDir: string, more: Partial<CheckPorts> = {}): Bench {
  const events: EventBody[] = [];
  let items = 0;
  let homes = 0;
  const ports: CheckPorts = {
    sandbox,
    emit: async (body) => {
      events.push(body);
    },
    nextItemId: () => `item_${items++}`,
    timeLeftMs: () => 60_000,
    environment: (rules) => ({ ...rules.set }),
    network: { mode: 'none' },
    outputBytes: 2048,
    watchNetwork: () => ({ onNetwork: () => undefined, told: async () => undefined }),
    startServices: async () => ({ kind: 'up', services: { stop: async () => undefined } }),
    async openHome() {
      const dir = path.join(homeDir, `home-${homes++}`);
      mkdirSync(dir, { recursive: true });
      return { dir, close: async () => rmSync(dir, { recursive: true, force: true }) };
    },
    redactStream: () => ({ write: (chunk) => chunk, end: () => Buffer.alloc(0) }),
    ...more,
  };
  return {
    ports,
    events,
    items: () =>
      events.flatMap((event) => (event.type === 'item.completed' && event.item.type === 'check' ? [event.item] : [])),
  };
}

export function placeOf(dir: string, phase: Place['phase'] = 'verify'): Place {
  return { root: dir, dir, mounts: [{ from: dir, to: dir, access: 'write' }], phase };
}
