import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const call = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const shell = (command: string) => call('shell', { command });
const done = call('finish', { status: 'done', summary: 'done' });
const writes = (n: number) => shell(`echo ${n} > ${n}.txt`);
let bench: Bench;
let id: string;

const cassette = (name: string, lines: readonly string[]) => {
  const path = join(bench.io, name);
  writeFileSync(path, lines.join(''));
  return path;
};

beforeEach(async () => {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': 'version: 1\nlimits: {turns: 20}\nverify: {checks: []}\n' });
  commitAll(bench);
  const first = cassette('first.jsonl', [writes(1), writes(2), writes(3)]);
  const { result, stderr } = await runCli(['run', 'count', '--replay', first, '--turns', '3'], bench);
  if (result?.outcome !== 'limit_reached') throw new Error(stderr);
  id = result.thread_id;
}, 60_000);
afterEach(() => bench.remove());

/** Answers of turns that are on record are passed over. */
const resume = (thread: string, lines: readonly string[], ...args: string[]) =>
  runCli(['resume', thread, '--turns', '20', '--replay', cassette('next.jsonl', lines), ...args], bench);
const passed = ['{"text":"x"}\n', '{"text":"x"}\n', '{"text":"x"}\n'];
const sourcesOf = async (thread: string, request: number) => {
  const { stdout } = await runCli(['thread', 'show', thread, '--request', String(request), '--json'], bench);
  return JSON.parse(stdout).pieces.map((piece: { source: string; turn: number | null }) => [piece.source, piece.turn]);
};

describe('belay resume', () => {
  it('goes on from where a rollback left workspace and thread', async () => {
    expect((await runCli(['thread', 'rollback', id, '--to-turn', '1'], bench)).code).toBe(0);
    const end = await resume(id, [...passed, writes(9), done]);
    expect([end.code, end.stderr]).toEqual([0, expect.any(String)]);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['1.txt', '9.txt', 'a.txt', 'belay.yml']);
    const sources = await sourcesOf(id, 4);
    expect(sources.filter(([, turn]: [string, number | null]) => turn === 2 || turn === 3)).toEqual([]);
    expect((await runCli(['thread', 'rollback', id, '--to-turn', '3'], bench)).code).toBe(0);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['1.txt', '2.txt', '3.txt', 'a.txt', 'belay.yml']);
  }, 60_000);

  it('goes on with a fork under its new goal, in a work tree of its own, and leaves the first thread as it is', async () => {
    const other = join(bench.root, 'other');
    bench.git('worktree', 'add', '-q', '--detach', other);
    const args = ['thread', 'fork', id, '--from-turn', '2', '--goal', 'count on', '--workspace', other];
    const fork = (await runCli(args, bench)).stdout.trim();
    const before = await runCli(['thread', 'show', id, '--json'], bench);
    const end = await resume(fork, [...passed.slice(0, 2), writes(7), done]);
    expect([end.code, end.result?.goal?.text, end.result?.thread_id]).toEqual([0, 'count on', fork]);
    expect(Object.keys(treeOf(other))).toEqual(['1.txt', '2.txt', '7.txt', 'a.txt', 'belay.yml']);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'belay.yml']);
    // What was said before turn 3 of the first thread is no part of it.
    expect((await sourcesOf(fork, 3)).slice(-2)).toEqual([
      ['goal', 2],
      ['workspace', 3],
    ]);
    expect((await runCli(['thread', 'show', id, '--json'], bench)).stdout).toBe(before.stdout);
  }, 60_000);

  it('goes on with a thread that was imported on another machine', async () => {
    const file = join(bench.io, 'thread.belay');
    await runCli(['thread', 'export', id, file], bench);
    const [ws, state] = [join(bench.root, 'ws2'), join(bench.root, 'state2')];
    mkdirSync(state);
    bench.git('clone', '-q', '--no-hardlinks', bench.ws, ws);
    const there = { cwd: ws, env: { XDG_STATE_HOME: state } };
    expect((await runCli(['thread', 'import', file], bench, there)).code).toBe(0);
    const meta = JSON.parse(readFileSync(join(state, 'belay/threads', id, 'meta.json'), 'utf8'));
    expect([meta.workspace, 'asked' in meta]).toEqual([ws, false]);
    const next = cassette('next.jsonl', [...passed, writes(4), done]);
    const end = await runCli(['resume', id, '--turns', '20', '--replay', next], bench, there);
    expect([end.code, end.stderr]).toEqual([0, expect.any(String)]);
    expect(Object.keys(treeOf(ws))).toEqual(['1.txt', '2.txt', '3.txt', '4.txt', 'a.txt', 'belay.yml']);
  }, 60_000);
});
