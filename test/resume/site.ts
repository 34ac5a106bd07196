import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readEvents } from '../../src/events/index.ts';
import { auditEvents } from '../../src/thread/index.ts';
import { type Bench, CLI, commitAll, createBench } from '../scenario.ts';
import { type Agent, type Call, startAgent } from './idempotent-agent.ts';

const HOOK = join(import.meta.dirname, 'kill-hook.mjs');

/** Each command leaves a line in a file that git ignores: how often it ran. */
export const once = (key: string, line: string, file: string): Call => ({
  key,
  name: 'shell',
  input: { command: `echo ${key} >> ran.txt; grep -qx ${line} ${file} 2>/dev/null || echo ${line} >> ${file}` },
});
export const STEPS: readonly (readonly Call[])[] = [
  [once('one', 'first', 'log.txt')],
  [{ key: 'edit', name: 'write_file', input: { path: 'note.txt', content: 'noted\n' } }],
  [once('two', 'second', 'log.txt'), once('three', 'third', 'log.txt')],
];
export const FINAL = { 'log.txt': 'first\nsecond\nthird\n', 'note.txt': 'noted\n' };

/** A repository with an agent of its own. */
export interface Site {
  bench: Bench;
  agent: Agent;
}

export async function openSite(steps: readonly (readonly Call[])[], policy: object): Promise<Site> {
  const agent = await startAgent(steps);
  const model = { provider: 'openai-compatible', name: 'm', base_url: agent.url };
  const all = { version: 1, model, tools: { edit: 'replace_text' }, ...policy };
  const bench = createBench({ '.gitignore': 'ran.txt\n', 'belay.yml': JSON.stringify(all) });
  commitAll(bench);
  return { bench, agent };
}

export async function withSite(
  about: { steps?: readonly (readonly Call[])[]; policy: object },
  work: (site: Site) => Promise<void>,
): Promise<void> {
  const site = await openSite(about.steps ?? STEPS, about.policy);
  try {
    await work(site);
  } finally {
    site.bench.remove();
    await site.agent.close();
  }
}

/** Runs the CLI with the hook; resolves with its signal and its exit code. */
export function runHooked(
  { bench, agent }: Site,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; killAt?: { n: number; when: 'before' | 'after' } } = {},
) {
  return new Promise<{ signal: NodeJS.Signals | null; code: number | null }>((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', HOOK, CLI, ...args], {
      cwd: bench.ws,
      env: { ...bench.env, KEEP_FROM: bench.root, ...options.env },
      stdio: 'ignore',
    });
    const { killAt } = options;
    agent.onRequest = (n, when) => {
      if (n === killAt?.n && when === killAt.when) child.kill('SIGKILL');
    };
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ signal, code }));
  });
}

const threadsOf = (bench: Bench) => join(bench.root, 'state', 'belay', 'threads');

/** The thread of the killed run, where it came so far as to have one. */
export function threadOf(bench: Bench): string | null {
  const folder = threadsOf(bench);
  const [id = null] = existsSync(folder) ? readdirSync(folder) : [];
  return id !== null && existsSync(join(folder, id, 'meta.json')) ? id : null;
}

export async function expectWholeLog(bench: Bench, id: string): Promise<void> {
  const report = await auditEvents(readEvents(join(threadsOf(bench), id, 'events.jsonl')), { severalRuns: true });
  expect(report.events).toBeGreaterThan(0);
  expect(report.faults).toEqual([]);
}

/** How often each call was asked for, by the thread's own record. */
function askedIn(dir: string): Map<string, number> {
  const ids = [...readFileSync(join(dir, 'notes.jsonl'), 'utf8').matchAll(/"type":"tool_call","id":"([^"~]+)~\d+"/g)];
  const asked = new Map<string, number>();
  for (const [, key = ''] of ids) asked.set(key, (asked.get(key) ?? 0) + 1);
  return asked;
}

/** A call that was cancelled may have come to nothing; one that has ended ran once. A resumed run may have put the list of runs aside. */
export function expectRanOnce({ bench }: Site, id: string, at: string): void {
  const dir = join(threadsOf(bench), id);
  const aside = join(dir, 'replaced');
  const lists = [bench.ws, ...(existsSync(aside) ? readdirSync(aside).map((run) => join(aside, run)) : [])];
  const ran = lists
    .map((folder) => join(folder, 'ran.txt'))
    .map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''))
    .join('');
  for (const [key, times] of askedIn(dir)) {
    const runs = ran.split('\n').filter((line) => line === key).length;
    const isCommand = STEPS.flat().some((call) => call.key === key && call.name === 'shell');
    const holds = !isCommand || (runs <= times && (times > 1 || runs === 1));
    expect({ at, key, times, runs, holds }).toMatchObject({ holds: true });
  }
}

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const take = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all([take(), take()]);
}
