import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
let bench: Bench;
/** A thread that ended, and one that is being written, in a workspace each. */
let ended: string;
let busy: string;
let child: ChildProcess;
const other = () => join(bench.root, 'other');
const folder = (id: string) => join(bench.root, 'state/belay/threads', id);
/** Of every command that takes a thread. */
const commands = (id: string): string[][] => [
  ['thread', 'show', id],
  ['thread', 'diff', id],
  ['thread', 'rollback', id, '--to-turn', '1'],
  ['thread', 'fork', id, '--from-turn', '1'],
  ['thread', 'export', id, join(bench.io, 'thread.belay')],
  ['resume', id],
  ['replay', id],
];
const exits = async (id: string, stderr: RegExp) => {
  const all = [];
  for (const args of commands(id)) {
    const end = await runCli(args, bench);
    all.push([args.slice(0, 2).join(' '), end.code, stderr.test(end.stderr) ? 'told' : end.stderr]);
  }
  return all;
};
const each = (code: number) => commands('').map((args) => [args.slice(0, 2).join(' ').trim(), code, 'told']);
const named = (all: unknown[][], id: string) =>
  all.map(([name, ...rest]) => [String(name).replace(id, '').trim(), ...rest]);

beforeAll(async () => {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
  commitAll(bench);
  bench.git('worktree', 'add', '-q', '--detach', other());
  const cassette = writeCassette(bench, [shell('echo 1 > one.txt'), finish]);
  ended = (await runCli(['run', 'go', '--replay', cassette], bench)).result?.thread_id ?? '';
  bench.git('clean', '-fdq');
  const slow = writeCassette(bench, [shell('echo 1 > one.txt'), shell('echo 2 > two.txt; test -e go || sleep 1000')]);
  child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', slow, '--workspace', other()], {
    ...{ cwd: other(), env: bench.env, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  let text = '';
  busy = await new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      if (/"item.started".*sleep 1000/.test(text)) resolve(/"thread_id":"(t_\w+)"/.exec(text)?.[1] ?? '');
    });
    child.on('close', () => reject(new Error(text)));
  });
}, 60_000);
afterAll(async () => {
  child.kill('SIGKILL');
  bench.remove();
});

describe('a thread', () => {
  it('that is not there is a usage error, and a part of an id names those that begin so', async () => {
    const before = treeOf(bench.ws);
    expect(
      named(
        await exits('t_000000000_0000000000', /no thread "t_000000000_0000000000".*thread list/),
        't_000000000_0000000000',
      ),
    ).toEqual(each(2));
    const part = ended.slice(0, 5);
    expect(
      named(await exits(part, new RegExp(`no thread "${part}".*whole id of ${ended}, ${busy}, which begin so`)), part),
    ).toEqual(each(2));
    expect(treeOf(bench.ws)).toEqual(before);
  }, 60_000);

  it('of a later format opens nowhere, and list says so beside the others', async () => {
    const path = join(folder(ended), 'meta.json');
    const meta = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      meta.replace('"format": 2', '"format": 3').replace(/"belay_version": "[^"]*"/, '"belay_version": "9.1.0"'),
    );
    try {
      expect(named(await exits(ended, /format 3, written by belay 9\.1\.0.*formats 1 to 2/), ended)).toEqual(each(2));
      const list = await runCli(['thread', 'list', '--json'], bench);
      expect(JSON.parse(list.stdout).map((one: { thread_id: string }) => one.thread_id)).toEqual([busy]);
      expect(list).toMatchObject({ code: 0, stderr: expect.stringMatching(`${ended} cannot be opened: .*format 3`) });
    } finally {
      writeFileSync(path, meta);
    }
  }, 60_000);

  it('that a run is writing can be read and branched off, is busy for what would change it, and is not pruned', async () => {
    const exitOf = async (...args: string[]) => (await runCli(args, bench)).code;
    expect((await runCli(['thread', 'show', busy], bench)).stdout).toMatch(/not ended\n.*turn 2 {2}attempt 1, open/s);
    expect((await runCli(['thread', 'diff', busy], bench)).stdout).toContain('+++ b/one.txt');
    expect(await exitOf('thread', 'show', busy, '--request', '2')).toBe(0);
    expect(await exitOf('thread', 'diff', busy, '1..2')).toBe(2);
    expect(await exitOf('thread', 'fork', busy, '--from-turn', '1')).toBe(0);
    const gone = await runCli(['thread', 'prune', '--max-size', '1', '--dry-run', '--json'], bench);
    expect(JSON.parse(gone.stdout).threads.map((one: { thread_id: string }) => one.thread_id)).not.toContain(busy);
    const changing = [
      ['thread', 'rollback', busy, '--to-turn', '1', '--force'],
      ['thread', 'export', busy, join(bench.io, 'busy.belay')],
      ['resume', busy],
      ['replay', busy, '--workspace', other()],
    ];
    for (const args of changing) expect([args[0], args[1], await exitOf(...args)]).toEqual([args[0], args[1], 23]);
    expect(treeOf(other())).toMatchObject({ 'one.txt': '1\n', 'two.txt': '2\n' });
  }, 60_000);

  it('whose run was killed in the middle of a line is replayed as far as it goes', async () => {
    const isGone = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGKILL');
    await isGone;
    for (const args of [
      ['checkout', '-q', '.'],
      ['clean', '-fdq'],
    ])
      bench.git('-C', other(), ...args);
    appendFileSync(join(folder(busy), 'events.jsonl'), '{"v":1,"seq":');
    writeFileSync(join(other(), 'go'), '');
    const end = await runCli(['replay', busy, '--workspace', other()], bench);
    expect({ code: end.code, stderr: end.stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/no end on record/),
    });
  }, 60_000);
});
