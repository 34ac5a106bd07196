import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { JobRecord, readJsonLines } from '../../src/events/index.ts';
import { type Bench, CLI, commitAll, createBench } from '../scenario.ts';
import { runBatch } from './batch-run.ts';

const JOBS = 200;
const PROCESSES = 8;
/** Of each shard, before it is let through. */
const KILLS = 2;

let bench: Bench;
afterEach(() => bench.remove());

/** The same numbers every time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Runs a shard; kills it with SIGKILL after so many lines of stdout (null: never). Returns its exit code, null when it was killed. */
function runShard(args: readonly string[], killAt: number | null): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, 'batch', ...args], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let lines = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 0x0a) lines++;
      if (killAt !== null && lines >= killAt) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(code));
  });
}

it('200 jobs over 8 processes, killed and started again at random, end with each job done exactly once', async () => {
  // The sandbox and the checks are the business of other tests: what counts here are records, locks and shards.
  bench = createBench({
    'belay.yml': JSON.stringify({ version: 1, sandbox: { mode: 'off' }, verify: { checks: [] } }),
    'a.txt': 'a\n',
  });
  commitAll(bench);
  const ids = Array.from({ length: JOBS }, (_, at) => `job-${at}`);
  const jobs = join(bench.io, 'jobs.jsonl');
  writeFileSync(jobs, ids.map((id) => `${JSON.stringify({ id, goal: `do ${id}` })}\n`).join(''));
  const cassette = join(bench.io, 'cassette.jsonl');
  writeFileSync(cassette, `${JSON.stringify({ text: 'done', usage: { input_tokens: 10, output_tokens: 1 } })}\n`);
  const random = createRandom(20_261_129);
  const files = Array.from({ length: PROCESSES }, (_, at) => join(bench.io, `shard-${at + 1}.jsonl`));
  const told = new Map<string, number>();

  await Promise.all(
    files.map(async (file, at) => {
      const args = [jobs, '--replay', cassette, '--shard', `${at + 1}/${PROCESSES}`, '--results', file];
      const done: string[][] = [];
      for (let kills = 0; ; kills++) {
        const code = await runShard([...args, '--concurrency', '1'], kills < KILLS ? 10 + random(120) : null);
        done.push(await readIds(file));
        if (code !== null) break;
      }
      // What was done stays done, whenever the kill came.
      for (const [round, before] of done.entries())
        for (const id of before) expect(done.slice(round).every((later) => later.includes(id))).toBe(true);
      for (const id of done.at(-1) ?? []) told.set(id, (told.get(id) ?? 0) + 1);
    }),
  );
  expect([told.size, Math.max(...told.values())]).toEqual([JOBS, 1]);

  const merged = join(bench.io, 'merged.jsonl');
  const end = await runBatch(['merge', ...files, '-o', merged], bench);
  expect(end.code).toBe(0);
  expect(end.completed).toMatchObject({
    jobs: JOBS,
    outcomes: { unchecked: JOBS },
    missing: { shards: [], jobs: 0 },
    usage: { input_tokens: JOBS * 10 },
  });
  const records = readFileSync(merged, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JobRecord.parse(JSON.parse(line)));
  expect(records.map((record) => record.job_id).sort()).toEqual([...ids].sort());
  expect(new Set(records.map(({ result }) => result.run_id)).size).toBe(JOBS);

  const without = await runBatch(['merge', ...files.slice(0, 6)], bench);
  expect([without.code, without.completed?.missing]).toEqual([10, { shards: [7, 8], jobs: 50 }]);
}, 900_000);

/** Whole lines: the last one may be torn by a kill. */
async function readIds(file: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const line of readJsonLines(file, { maxLineBytes: 8 << 20 })) {
    if (line.kind === 'line') ids.push(JobRecord.parse(line.value).job_id);
    else expect(['torn', 'unreadable']).toContain(line.reason);
  }
  return ids;
}
