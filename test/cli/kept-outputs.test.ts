import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasStrace, parseTrace } from '../resume/system-calls.ts';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const POLICY = 'version: 1\nlimits: {output_bytes: 1KiB}\nverify: {checks: []}\n';
const call = (name: string, input: object) => ({ tool_calls: [{ name, input }] });
const shell = (command: string) => call('shell', { command });
const read = (id: string) => call('read_output', { output_id: id, limit: 20 });
const finish = call('finish', { status: 'done', summary: 'done' });
const NUMBERS = Array.from({ length: 500 }, (_, i) => `${i + 1}\n`).join('');
const DIGEST = createHash('sha256').update(NUMBERS).digest('hex');
const passed = (n: number) => Array.from({ length: n }, () => ({ text: 'x' }));
let bench: Bench;

beforeEach(() => {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
});
afterEach(() => bench.remove());

const folder = (id: string) => join(bench.root, 'state/belay/threads', id);
const resume = (id: string, answers: readonly object[]) =>
  runCli(['resume', id, '--replay', writeCassette(bench, answers), '--turns', '20'], bench);

/** What the tools told the model in a request: texts of their results, by name. */
async function toldIn(id: string, request: number): Promise<[string, string][]> {
  const { stdout } = await runCli(['thread', 'show', id, '--request', String(request), '--json'], bench);
  const pieces: { source: string; text: string }[] = JSON.parse(stdout).pieces;
  return pieces.flatMap(({ source, text }) => (source.startsWith('tool ') ? [[source.slice(5), text]] : []));
}

/** A thread of format 1, in the folder that it works in. */
async function importEarly() {
  const other = { cwd: join(bench.root, 'count'), env: { XDG_STATE_HOME: join(bench.root, 'state') } };
  mkdirSync(other.cwd);
  writeFileSync(join(other.cwd, 'a.txt'), 'a\n');
  writeFileSync(join(other.cwd, 'belay.yml'), POLICY);
  const file = join(bench.io, 'format-1.belay');
  copyFileSync(join(import.meta.dirname, '../thread/fixtures/format-1.belay'), file);
  return { other, id: (await runCli(['thread', 'import', file], bench, other)).stdout.trim() };
}

describe('an output that was kept', () => {
  it('is told of where it is not as it was: by audit, show, export, replay, and to the model', async () => {
    commitAll(bench);
    const answers = [shell('seq 1 500'), shell('seq 1 500; echo > b.txt'), shell('true')];
    const first = await runCli(
      ['run', 'go', '--replay', writeCassette(bench, answers.slice(0, 2)), '--turns', '2'],
      bench,
    );
    const id = first.result?.thread_id ?? first.stderr;
    const blobs = join(folder(id), 'blobs/sha256');
    expect(readdirSync(blobs)).toEqual([DIGEST]);
    const fork = (await runCli(['thread', 'fork', id, '--from-turn', '1'], bench)).stdout.trim();
    const events = first.events.length;
    const audit = () => runCli(['audit', id], bench);
    expect(await audit()).toMatchObject({ code: 0, stdout: `ok: ${events} events, outcome limit_reached\n` });

    writeFileSync(join(blobs, DIGEST), NUMBERS.replace('250', '999'));
    const told = 'output o1 was changed: its bytes have another SHA-256';
    const file = join(bench.io, 'thread.belay');
    const ends = [
      await audit(),
      await runCli(['thread', 'show', id], bench),
      await runCli(['thread', 'export', id, file], bench),
      await runCli(['replay', id], bench),
    ];
    expect(ends.map(({ code, stderr }) => [code, stderr.includes(told)])).toEqual([
      [17, true],
      [0, true],
      [2, true],
      [2, true],
    ]);
    expect(ends[0]?.stdout).toBe(`broken: 2 faults in ${events} events\n`);
    expect(existsSync(file)).toBe(false);
    const end = await resume(id, [...passed(2), read('o1'), finish]);
    expect(end.code).toBe(0);
    expect((await toldIn(id, 4)).at(-1)).toEqual(['read_output', expect.stringContaining(told)]);
    // A fork shares the bytes of the file, and what was written to it.
    expect((await runCli(['audit', fork], bench)).code).toBe(17);
  }, 60_000);

  it('comes from a thread of format 1 as it is, which then goes on in format 2', async () => {
    const { other, id } = await importEarly();
    const meta = () => JSON.parse(readFileSync(join(folder(id), 'meta.json'), 'utf8'));
    const outputs = () => readdirSync(join(folder(id), 'outputs')).sort();
    expect([meta().format, outputs()]).toEqual([1, ['o1', 'o1.json', 'o2', 'o2.json']]);
    const shown = await runCli(['thread', 'show', id], bench, other);
    expect({ ...shown, stdout: shown.stdout.includes('turn 2  attempt 1') }).toMatchObject({
      ...{ code: 0, stderr: '', stdout: true },
    });
    expect(meta().format).toBe(1);
    // The first threads did not say who wrote them.
    const { belay_version: version, ...early } = meta();
    writeFileSync(join(folder(id), 'meta.json'), JSON.stringify(early));
    const heads = [shown, await runCli(['thread', 'show', id], bench, other)].map(
      ({ code, stdout }) => [code, /^format.*$/m.exec(stdout)?.[0]] as const,
    );
    expect(heads).toEqual([
      [0, `format     1, by belay ${version}`],
      [0, 'format     1, by a belay that did not say its version'],
    ]);
    // In its first event there was always a version: a line without one is damage, which is told, and nothing goes on from it.
    const log = join(folder(id), 'events.jsonl');
    const events = readFileSync(log, 'utf8');
    writeFileSync(log, events.replace(`"belay_version":"${version}",`, ''));
    const told = /events.*line 1: .*belay_version/;
    expect(await runCli(['thread', 'show', id], bench, other)).toMatchObject({ stderr: expect.stringMatching(told) });
    const refused = await runCli(['resume', id, '--replay', writeCassette(bench, [finish])], bench, other);
    expect([refused.code, refused.result?.reason]).toEqual([2, expect.stringMatching(told)]);
    writeFileSync(log, events);

    const answers = [...passed(2), read('o2'), shell('seq 1 500'), read('o3'), finish];
    const args = ['resume', id, '--replay', writeCassette(bench, answers), '--turns', '20'];
    const end = await runCli(args, bench, other);
    expect({ code: end.code, tree: Object.keys(treeOf(other.cwd)) }).toEqual({
      code: 0,
      tree: ['a.txt', 'belay.yml', 'one.txt', 'two.txt'],
    });
    expect([meta().format, meta().belay_version, outputs().length]).toEqual([2, expect.any(String), 4]);
    expect(readdirSync(join(folder(id), 'blobs/sha256'))).toEqual([DIGEST]);
    const start = `1\n2\n3\n4\n5\n6\n7\n8\n9\n10`;
    expect(
      (await toldIn(id, 6)).filter(([name]) => name === 'read_output').map(([, text]) => text.slice(0, start.length)),
    ).toEqual([start, start]);
    expect((await runCli(['audit', id], bench)).code).toBe(0);

    writeFileSync(join(folder(id), 'outputs/o1'), NUMBERS.replace('250', '999'));
    expect(await runCli(['audit', id], bench)).toMatchObject({
      ...{ code: 17, stderr: expect.stringContaining('output o1 was changed') },
    });
    const fork = await runCli(['thread', 'fork', id, '--from-turn', '1', '--workspace', other.cwd], bench, other);
    expect(readdirSync(join(folder(fork.stdout.trim()), 'outputs'))).toHaveLength(4);
  }, 60_000);

  it('of a command that was in flight at a kill is kept as far as it came, and the model is told all of it', async () => {
    commitAll(bench);
    const cassette = writeCassette(bench, [shell('seq 1 500; sleep 1000'), finish]);
    const child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette], {
      ...{ cwd: bench.ws, env: bench.env, stdio: 'ignore' },
    });
    const isGone = new Promise((resolve) => child.on('close', resolve));
    const threads = join(bench.root, 'state/belay/threads');
    await vi.waitFor(
      () => expect(statSync(join(threads, readdirSync(threads)[0] ?? '', 'blobs/o1.part')).size).toBe(NUMBERS.length),
      { timeout: 30_000, interval: 20 },
    );
    child.kill('SIGKILL');
    await isGone;
    const [id = ''] = readdirSync(threads);
    const end = await resume(id, [...passed(1), read('o1'), finish]);
    const cancelled = end.events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))[0];
    expect({ code: end.code, cancelled }).toMatchObject({
      ...{ code: 0, cancelled: { status: 'cancelled', output_id: 'o1' } },
    });
    const [words, shown] = await toldIn(id, 3);
    expect(words).toEqual([
      'shell',
      'cancelled: belay itself was ended while this ran, so it is not known how far it got. It was not run again: ' +
        `look at what it left before you go on. What it had printed by then (${NUMBERS.length} bytes): read_output output_id=o1`,
    ]);
    expect(shown).toEqual(['read_output', expect.stringMatching(/^1\n2\n3\n/)]);
    expect(readdirSync(join(folder(id), 'blobs/sha256'))).toEqual([DIGEST]);
  }, 60_000);

  it.skipIf(!hasStrace)(
    'is on disk before it takes its name, as is what says which format a thread has',
    async () => {
      const { other, id } = await importEarly();
      // As a killed run leaves it.
      writeFileSync(join(folder(id), 'blobs/o9.part'), NUMBERS);
      const trace = join(bench.io, 'trace');
      const words = ['-f', '-yy', '-e', 'trace=fsync,fdatasync,rename', '-o', trace, process.execPath, CLI];
      execFileSync('strace', [...words, 'thread', 'export', id, join(bench.io, 'thread.belay')], {
        ...{ cwd: other.cwd, env: bench.env, stdio: 'ignore' },
      });
      const calls = parseTrace(readFileSync(trace, 'utf8'));
      const renamed = (draft: string) =>
        calls.find(({ name, text }) => name === 'rename' && text.includes(`/${draft}"`));
      const syncsOf = (file: string) =>
        calls.filter(({ name, text }) => name.endsWith('sync') && text.includes(`/${file}>`)).map(({ to }) => to);
      for (const draft of ['o9.part', 'meta.json.part'])
        expect({ draft, syncs: syncsOf(draft).filter((to) => to < (renamed(draft)?.from ?? 0)).length }).toEqual({
          draft,
          syncs: 1,
        });
      expect(syncsOf(id).some((to) => to > (renamed('meta.json.part')?.to ?? Number.POSITIVE_INFINITY))).toBe(true);
    },
    60_000,
  );
});
