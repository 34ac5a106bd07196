import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const HOOK = join(import.meta.dirname, 'write-kill-hook.mjs');
/** A sweep takes this many points, spread over all there are. */
const MOST_KILLS = 8;
const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;

let bench: Bench;
let id: string;
let file: string;
let shown: string;
let first: Record<string, string>;
let last: Record<string, string>;

const thread = (...args: string[]) => runCli(['thread', ...args], bench);
const threads = () => readdirSync(join(bench.root, 'state/belay/threads'));
const pristine = (name: string) => join(bench.root, 'pristine', name);

const stateHome = () => bench.env['XDG_STATE_HOME'] ?? '';

function reset(): void {
  for (const name of ['ws', 'state', 'io']) {
    const to = name === 'state' ? stateHome() : join(bench.root, name);
    rmSync(to, { recursive: true, force: true });
    cpSync(pristine(name), to, { recursive: true, preserveTimestamps: true });
  }
}

const MEMORY = '/dev/shm';
/** Whether there is a second file system to write to. */
const hasOther = existsSync(MEMORY) && statSync(MEMORY).dev !== statSync(tmpdir()).dev;

beforeAll(async () => {
  bench = createBench({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
  commitAll(bench);
  const cassette = join(bench.io, 'model.jsonl');
  const commands = ['seq 1 20000; echo 1 > one.txt', 'echo 2 > two.txt; echo 2 > a.txt; rm b.txt; chmod +x one.txt'];
  const calls = commands.map((command) => answer('shell', { command })).join('');
  writeFileSync(cassette, calls + answer('finish', { status: 'done', summary: 'done' }));
  id = (await runCli(['run', 'write files', '--replay', cassette], bench)).result?.thread_id ?? '';
  file = join(bench.io, 'thread.belay');
  await thread('export', id, file);
  last = treeOf(bench.ws);
  await thread('rollback', id, '--to-turn', '1');
  first = treeOf(bench.ws);
  await thread('rollback', id, '--undo');
  shown = (await thread('show', id, '--json')).stdout;
  for (const name of ['ws', 'state', 'io'])
    cpSync(join(bench.root, name), pristine(name), { recursive: true, preserveTimestamps: true });
}, 60_000);
afterAll(() => bench.remove());

function runHooked(args: readonly string[], env: NodeJS.ProcessEnv): Promise<NodeJS.Signals | number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', HOOK, CLI, 'thread', ...args], {
      ...{ cwd: bench.ws, env: { ...bench.env, ...env }, stdio: 'ignore' },
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
}

interface Sweep {
  args(): readonly string[];
  /** Before the command. */
  arrange?(): Promise<void> | void;
  /** Kills at each of these points instead of some of all. */
  points?: RegExp;
  /** After the kill: `at` says where it was. */
  expectHolds(at: string): Promise<void>;
}

/** Kills the command at each point, and asks each time whether all is well. */
async function sweep({ args, arrange, points: only, expectHolds }: Sweep): Promise<void> {
  reset();
  await arrange?.();
  const log = join(bench.root, 'points');
  rmSync(log, { force: true });
  expect(await runHooked(args(), { POINT_LOG: log })).toBe(0);
  const points = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(points.length).toBeGreaterThan(5);
  let kills = 0;
  const stride = Math.max(1, points.length / MOST_KILLS);
  const chosen: number[] = [];
  if (only === undefined) for (let at = 1; at <= points.length; at = Math.ceil(at + stride)) chosen.push(at);
  else points.forEach((point, i) => void (only.test(point) && chosen.push(i + 1)));
  for (const at of chosen) {
    const name = `${at} of ${points.length}: ${points[at - 1]}`;
    reset();
    await arrange?.();
    const end = await runHooked(args(), { KILL_AT: String(at) });
    expect([name, end]).toEqual([name, end === 0 ? 0 : 'SIGKILL']);
    // How often a lock is looked after is not the same each time: the last point may not come.
    if (end === 0) continue;
    kills += 1;
    await expectHolds(name);
  }
  expect(kills).toBeGreaterThan(Math.min(chosen.length, MOST_KILLS) / 2);
}

const ends = async (at: string, ...args: string[]) => {
  const { code, stdout, stderr } = await thread(...args);
  expect({ at, args, code, stderr }).toEqual({ at, args, code: 0, stderr: expect.any(String) });
  return stdout;
};

describe('a command of belay thread that is killed can be given again', () => {
  it(
    'rollback, without more ado',
    () =>
      sweep({
        args: () => ['rollback', id, '--to-turn', '1'],
        async expectHolds(at) {
          await ends(at, 'rollback', id, '--to-turn', '1');
          expect({ at, tree: treeOf(bench.ws) }).toEqual({ at, tree: first });
          await ends(at, 'rollback', id, '--undo');
          expect({ at, tree: treeOf(bench.ws) }).toEqual({ at, tree: last });
          const { position } = JSON.parse(await ends(at, 'show', id, '--json'));
          expect({ at, position }).toEqual({ at, position: JSON.parse(shown).position });
        },
      }),
    300_000,
  );

  it(
    'rollback by force, and --undo still brings back what no turn made',
    () =>
      sweep({
        args: () => ['rollback', id, '--to-turn', '1', '--force'],
        arrange: () => bench.write('a.txt', 'mine\n'),
        async expectHolds(at) {
          const isOnRecord = JSON.parse(await ends(at, 'show', id, '--json')).rollbacks.length > 2;
          if (!isOnRecord) return expect(treeOf(bench.ws)).toEqual({ ...last, 'a.txt': 'mine\n' });
          await ends(at, 'rollback', id, '--to-turn', '1');
          expect({ at, tree: treeOf(bench.ws) }).toEqual({ at, tree: first });
          await ends(at, 'rollback', id, '--undo');
          expect({ at, tree: treeOf(bench.ws) }).toEqual({ at, tree: { ...last, 'a.txt': 'mine\n' } });
        },
      }),
    300_000,
  );

  it.skipIf(!hasOther)(
    `rollback, with the thread on another file system than the workspace${hasOther ? '' : ' (skipped: there is no second one)'}`,
    async () => {
      const home = stateHome();
      const other = mkdtempSync(join(MEMORY, 'belay-test-'));
      bench.env['XDG_STATE_HOME'] = other;
      try {
        await sweep({
          args: () => ['rollback', id, '--to-turn', '1'],
          points: /^half of copyFile .*\/ws\/|^rename .*\/ws\//,
          async expectHolds(at) {
            await ends(at, 'rollback', id, '--to-turn', '1');
            expect({ at, tree: treeOf(bench.ws) }).toEqual({ at, tree: first });
          },
        });
      } finally {
        bench.env['XDG_STATE_HOME'] = home;
        rmSync(other, { recursive: true, force: true });
      }
    },
    120_000,
  );

  it(
    'rollback, or taken back instead',
    () =>
      sweep({
        args: () => ['rollback', id, '--to-turn', '1'],
        async expectHolds(at) {
          await ends(at, 'rollback', id, '--undo');
          // Before its record is there, the rollback that is taken back is the one before.
          const isOnRecord = JSON.parse(await ends(at, 'show', id, '--json')).rollbacks.length > 3;
          expect({ at, tree: treeOf(bench.ws) }).toEqual({ at, tree: isOnRecord ? last : first });
        },
      }),
    300_000,
  );

  it(
    'fork, and the thread is what it was',
    () =>
      sweep({
        args: () => ['fork', id, '--from-turn', '1'],
        async expectHolds(at) {
          const fork = (await ends(at, 'fork', id, '--from-turn', '1')).trim();
          await ends(at, 'diff', fork);
          expect({ at, shown: await ends(at, 'show', id, '--json') }).toEqual({ at, shown });
          for (const one of JSON.parse(await ends(at, 'list', '--json'))) await ends(at, 'show', one.thread_id);
        },
      }),
    300_000,
  );

  it(
    'export, and an earlier file is whole until the new one is',
    () =>
      sweep({
        args: () => ['export', id, file],
        async expectHolds(at) {
          const found = readFileSync(file);
          await ends(at, 'export', id, file);
          for (const one of [found, readFileSync(file)]) {
            rmSync(join(bench.root, 'state'), { recursive: true });
            writeFileSync(file, one);
            expect(await ends(at, 'import', file)).toBe(`${id}\n`);
          }
        },
      }),
    300_000,
  );

  it(
    'import, which takes the place of what the killed one left',
    () =>
      sweep({
        args: () => ['import', file],
        arrange: () => rmSync(join(bench.root, 'state'), { recursive: true }),
        async expectHolds(at) {
          const again = await thread('import', file);
          if (again.code !== 0)
            expect({ at, again }).toMatchObject({
              again: { code: 2, stderr: expect.stringMatching(/is here already/) },
            });
          const { turns } = JSON.parse(await ends(at, 'show', id, '--json'));
          expect({ at, turns }).toEqual({ at, turns: JSON.parse(shown).turns });
          await ends(at, 'diff', id);
          expect({ at, threads: threads() }).toEqual({ at, threads: [id] });
        },
      }),
    300_000,
  );

  it(
    'prune, and a thread is there as a whole or not at all',
    () =>
      sweep({
        args: () => ['prune', '--max-size', '1'],
        async expectHolds(at) {
          for (const one of JSON.parse(await ends(at, 'list', '--json'))) {
            expect({ at, shown: await ends(at, 'show', one.thread_id, '--json') }).toEqual({ at, shown });
            await ends(at, 'diff', one.thread_id);
          }
          await ends(at, 'prune', '--max-size', '1');
          expect({
            at,
            left: threads().filter((name) => existsSync(join(bench.root, 'state/belay/threads', name))),
          }).toEqual({
            at,
            left: [],
          });
        },
      }),
    300_000,
  );
});
