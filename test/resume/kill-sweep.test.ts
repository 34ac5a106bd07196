import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readEvents } from '../../src/events/index.ts';
import { auditEvents } from '../../src/thread/index.ts';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf } from '../scenario.ts';
import { type Agent, startAgent } from './idempotent-agent.ts';

const HOOK = join(import.meta.dirname, 'kill-hook.mjs');
/** Each command leaves a line in a file that git ignores: how often it ran. */
const once = (key: string, line: string, file: string) => ({
  key,
  name: 'shell',
  input: { command: `echo ${key} >> ran.txt; grep -qx ${line} ${file} 2>/dev/null || echo ${line} >> ${file}` },
});
const STEPS = [
  [once('one', 'first', 'log.txt')],
  [{ key: 'edit', name: 'write_file', input: { path: 'note.txt', content: 'noted\n' } }],
  [once('two', 'second', 'log.txt'), once('three', 'third', 'log.txt')],
];
const FINAL = { 'log.txt': 'first\nsecond\nthird\n', 'note.txt': 'noted\n' };

const agents: Agent[] = [];
afterAll(async () => {
  for (const agent of agents) await agent.close();
});

interface Site {
  bench: Bench;
  agent: Agent;
}

async function openSite(): Promise<Site> {
  const agent = await startAgent(STEPS);
  agents.push(agent);
  const policy = {
    version: 1,
    model: { provider: 'openai-compatible', name: 'm', base_url: agent.url },
    tools: { edit: 'replace_text' },
    verify: { checks: [] },
  };
  const bench = createBench({ '.gitignore': 'ran.txt\n', 'belay.yml': JSON.stringify(policy) });
  commitAll(bench);
  return { bench, agent };
}

/** Runs the CLI with the hook; resolves with its signal and what it printed. */
function runHooked({ bench, agent }: Site, env: NodeJS.ProcessEnv, killAt?: { n: number; when: 'before' | 'after' }) {
  return new Promise<{ signal: NodeJS.Signals | null; stdout: string }>((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', HOOK, CLI, 'run', 'go on'], {
      cwd: bench.ws,
      env: { ...bench.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    agent.onRequest = (n, when) => {
      if (n === killAt?.n && when === killAt.when) child.kill('SIGKILL');
    };
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => resolve({ signal, stdout }));
  });
}

const threadsOf = (bench: Bench) => join(bench.root, 'state', 'belay', 'threads');

/** The thread of the killed run, where it came so far as to have one. */
function threadOf(bench: Bench): string | null {
  const folder = threadsOf(bench);
  const [id = null] = existsSync(folder) ? readdirSync(folder) : [];
  return id !== null && existsSync(join(folder, id, 'meta.json')) ? id : null;
}

/** The rest of a killed run is as if it had not been killed. */
async function expectResumes({ bench, agent }: Site, at: string): Promise<void> {
  agent.onRequest = null;
  const id = threadOf(bench);
  if (id === null) return;
  const end = await runCli(['resume', id], bench);
  const finished = end.stdout.includes('there is nothing to resume');
  if (!finished)
    expect({ at, code: end.code, outcome: end.result?.outcome }).toEqual({ at, code: 0, outcome: 'unchecked' });
  const { 'ran.txt': ran = '', ...tree } = treeOf(bench.ws);
  expect({ at, tree }).toMatchObject({ at, tree: FINAL });
  for (const [key, times] of agent.asked()) {
    const runs = ran.split('\n').filter((line) => line === key).length;
    // A call that was cancelled may have come to nothing; one that has ended ran once.
    expect({ at, key, runs: runs <= times && (times > 1 || key === 'edit' || runs === 1) }).toEqual({
      at,
      key,
      runs: true,
    });
  }
  const events = join(threadsOf(bench), id, 'events.jsonl');
  expect((await auditEvents(readEvents(events), { severalRuns: true })).events).toBeGreaterThan(0);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const take = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all([take(), take()]);
}

async function withSite(work: (site: Site) => Promise<void>): Promise<void> {
  const site = await openSite();
  try {
    await work(site);
  } finally {
    site.bench.remove();
  }
}

it('a run that is killed at any append, command or file write goes on to the same end', async () => {
  let points: string[] = [];
  await withSite(async (site) => {
    const log = join(site.bench.io, 'points');
    const whole = await runHooked(site, { KILL_LOG: log });
    expect(whole.signal).toBeNull();
    expect(treeOf(site.bench.ws)).toMatchObject({ ...FINAL, 'ran.txt': 'one\ntwo\nthree\n' });
    points = readFileSync(log, 'utf8').trimEnd().split('\n');
  });
  // What the sweep is about is there to be hit.
  for (const kind of ['append', 'before command', 'in command', 'after command', 'before write', 'after write'])
    expect(points).toContain(kind);
  // Appends of the same moment go out in one: a run may have a few points less.
  let killed = 0;
  await inParallel(
    points.map((kind, i) => ({ at: i + 1, kind })),
    ({ at, kind }) =>
      withSite(async (site) => {
        const { signal } = await runHooked(site, { KILL_AT: String(at) });
        if (signal === 'SIGKILL') killed++;
        await expectResumes(site, `${at} (${kind})`);
      }),
  );
  expect(killed).toBeGreaterThan(points.length - 5);
}, 600_000);

it('a run that is killed around any request to the model goes on to the same end', async () => {
  const kills = [1, 2, 3, 4].flatMap((n) => (['before', 'after'] as const).map((when) => ({ n, when })));
  await inParallel(kills, ({ n, when }) =>
    withSite(async (site) => {
      await runHooked(site, {}, { n, when });
      await expectResumes(site, `request ${n}, ${when}`);
    }),
  );
}, 300_000);
