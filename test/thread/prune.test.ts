import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRedactor } from '../../src/events/index.ts';
import { createThread, listThreads, pruneThreads } from '../../src/thread/index.ts';
import { tempFolder } from '../events/temp-folder.ts';

const MIB = 1_048_576;

/** Threads of about 1 MiB each, a day apart, oldest first. */
async function createThreads(count: number) {
  const stateDir = tempFolder();
  const threads = [];
  for (let day = 1; day <= count; day += 1) {
    const clock = { now: () => Date.UTC(2030, 0, day) };
    const thread = await createThread({
      ...{ stateDir, workspace: tempFolder(), goal: 'go', redactor: createRedactor([]), clock, ephemeral: false },
    });
    writeFileSync(join(thread.dir, 'blobs', 'big'), Buffer.alloc(MIB, 'x'));
    threads.push(thread);
  }
  const left = async () => (await listThreads(stateDir)).map(({ id }) => id);
  return { stateDir, threads, ids: threads.map(({ id }) => id), left };
}

it('pruneThreads removes the oldest threads until the others fit, and tells their sizes', async () => {
  const { stateDir, threads, ids, left } = await createThreads(4);
  for (const thread of threads) await thread.close();
  const rules = { createdBeforeMs: null, maxBytes: 2.5 * MIB, dryRun: false };
  const planned = await pruneThreads(stateDir, { ...rules, dryRun: true });
  expect(await left()).toEqual(ids);
  const pruned = await pruneThreads(stateDir, rules);
  expect(pruned).toEqual(planned);
  expect(pruned.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  for (const { bytes } of pruned) expect(bytes).toBeGreaterThanOrEqual(MIB);
  expect(await left()).toEqual(ids.slice(2));
  expect(await pruneThreads(stateDir, rules)).toEqual([]);
  expect(readdirSync(join(stateDir, 'threads')).sort()).toEqual(ids.slice(2).sort());
});

it('pruneThreads by size passes over a thread in use, and takes the next one', async () => {
  const { stateDir, threads, ids, left } = await createThreads(3);
  // While it is open it holds 1 MiB more, for a full disk.
  const [busy, ...others] = threads;
  for (const thread of others) await thread.close();
  const pruned = await pruneThreads(stateDir, { createdBeforeMs: null, maxBytes: 3.5 * MIB, dryRun: false });
  expect(pruned.map(({ id }) => id)).toEqual(ids.slice(1, 2));
  expect(await left()).toEqual([ids[0], ids[2]]);
  await busy?.close();
});

it('pruneThreads ends what a killed one began, but not on a dry run', async () => {
  const { stateDir, threads, ids, left } = await createThreads(1);
  for (const thread of threads) await thread.close();
  const rest = join(stateDir, 'threads', 't_0123456789.pruned');
  mkdirSync(join(rest, 'outputs'), { recursive: true });
  const stranger = join(stateDir, 'threads', '.pruned');
  mkdirSync(stranger);
  const rules = { createdBeforeMs: 0, maxBytes: null };
  expect(await pruneThreads(stateDir, { ...rules, dryRun: true })).toEqual([]);
  expect(existsSync(rest)).toBe(true);
  expect(await pruneThreads(stateDir, { ...rules, dryRun: false })).toEqual([]);
  expect([existsSync(rest), existsSync(stranger), await left()]).toEqual([false, true, ids]);
});

it('pruneThreads takes a thread that does not say when it was made for as old as its folder', async () => {
  const { stateDir, threads, left } = await createThreads(1);
  for (const thread of threads) await thread.close();
  const [{ dir } = { dir: '' }] = threads;
  const meta = join(dir, 'meta.json');
  writeFileSync(meta, JSON.stringify({ ...JSON.parse(readFileSync(meta, 'utf8')), created: 'never' }));
  await pruneThreads(stateDir, { createdBeforeMs: Date.UTC(2100, 0), maxBytes: null, dryRun: false });
  expect(await left()).toEqual([]);
});
