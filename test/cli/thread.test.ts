import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEvents, openThread } from '../../src/thread/index.ts';
import { type Bench, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const POLICY = 'version: 1\nverify: {checks: []}\n';
const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
let bench: Bench;
let id: string;
let after: Record<number, Record<string, string>>;

async function runThread(answers: readonly object[], goal = 'write files'): Promise<string> {
  const cassette = writeCassette(bench, answers);
  const { result, stderr } = await runCli(['run', goal, '--replay', cassette], bench);
  if (result?.outcome !== 'unchecked') throw new Error(stderr);
  return result.thread_id;
}
const thread = (...args: string[]) => runCli(['thread', ...args], bench);
const stateDir = () => join(bench.root, 'state/belay');

beforeAll(async () => {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY, '.gitignore': 'cache/\n' });
  commitAll(bench);
  const start = treeOf(bench.ws);
  id = await runThread([
    shell('echo 1 > one.txt; mkdir cache; echo x > cache/x'),
    shell('echo 2 > two.txt; rm a.txt; chmod +x one.txt'),
    finish,
  ]);
  const cache = { 'cache/x': 'x\n' };
  const { 'a.txt': _, ...rest } = start;
  after = {
    0: { ...start, ...cache },
    1: { ...start, ...cache, 'one.txt': '1\n' },
    2: { ...rest, ...cache, 'one.txt': 'x:1\n', 'two.txt': '2\n' },
  };
}, 60_000);
afterAll(() => bench.remove());

describe('belay thread', () => {
  it('lists, shows and diffs what the turns did', async () => {
    const list = await thread('list', '--json');
    expect(JSON.parse(list.stdout)).toEqual([
      { thread_id: id, workspace: bench.ws, goal: 'write files', created: expect.any(String), outcome: 'unchecked' },
    ]);
    expect((await thread('list', '--workspace', bench.io)).stdout).toBe('');
    const shown = await thread('show', id);
    expect(shown.stdout).toContain('turn 2');
    expect(shown.stdout).toMatch(/ {4}- a\.txt\n {4}~ one\.txt\n {4}\+ two\.txt\n/);
    const turns = JSON.parse((await thread('show', id, '--json')).stdout).turns;
    expect(turns.map((turn: { turn: number; changes: object[] }) => turn.changes)).toEqual([
      [{ path: 'one.txt', kind: 'add' }],
      [
        { path: 'a.txt', kind: 'delete' },
        { path: 'one.txt', kind: 'update' },
        { path: 'two.txt', kind: 'add' },
      ],
      [],
    ]);
    const patch = (await thread('diff', id, '1..2')).stdout;
    expect(patch).toContain('old mode 100644\nnew mode 100755');
    expect(patch).not.toContain('new file mode 100644\nindex 0000000000000000000000000000000000000000..d00491');
    const whole = join(bench.io, 'whole.patch');
    writeFileSync(whole, (await thread('diff', id)).stdout);
    bench.git('stash', '-u', '-q');
    bench.git('apply', whole);
    expect(treeOf(bench.ws)).toEqual(after[2]);
    bench.git('stash', 'drop', '-q');
  }, 60_000);

  it('goes back, forth and back again, and leaves ignored files alone', async () => {
    expect(treeOf(bench.ws)).toEqual(after[2]);
    const back = await thread('rollback', id, '--to-turn', '1');
    expect([back.code, treeOf(bench.ws)]).toEqual([0, after[1]]);
    const base = await thread('rollback', id, '--to-turn', '0', '--json');
    expect(JSON.parse(base.stdout)).toMatchObject({ turn: 0, files: 1, workspace: bench.ws });
    expect(treeOf(bench.ws)).toEqual(after[0]);
    await thread('rollback', id, '--undo');
    expect(treeOf(bench.ws)).toEqual(after[1]);
    await thread('rollback', id, '--to-turn', '2');
    expect(treeOf(bench.ws)).toEqual(after[2]);
    const { rollbacks, position } = JSON.parse((await thread('show', id, '--json')).stdout);
    expect(rollbacks.map((r: { from_turn: number; to_turn: number }) => [r.from_turn, r.to_turn])).toEqual([
      [3, 1],
      [1, 0],
      [0, 1],
      [1, 2],
    ]);
    expect(position).toBe(2);
    const stored = await openThread(stateDir(), id);
    expect(await auditEvents(stored.readEvents(), { severalRuns: true })).toMatchObject({ ok: true });
  }, 60_000);

  it('keeps changes that no turn made, unless told, and then gives them back', async () => {
    bench.write('mine.txt', 'mine\n');
    const held = treeOf(bench.ws);
    const refused = await thread('rollback', id, '--to-turn', '1');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/mine\.txt.*--force/) });
    expect(treeOf(bench.ws)).toEqual(held);
    expect((await thread('rollback', id, '--to-turn', '1', '--force')).code).toBe(0);
    expect(treeOf(bench.ws)).toEqual(after[1]);
    expect((await thread('rollback', id, '--undo')).code).toBe(0);
    expect(treeOf(bench.ws)).toEqual(held);
  }, 60_000);

  it('forks into a thread of its own that outlives the first one', async () => {
    const fork = (await thread('fork', id, '--from-turn', '1', '--goal', 'another way')).stdout.trim();
    expect(fork).toMatch(/^t_/);
    const shown = JSON.parse((await thread('show', fork, '--json')).stdout);
    expect(shown).toMatchObject({ goal: 'another way', forked_from: { thread_id: id, turn: 1 }, last_turn: 1 });
    const again = (await thread('fork', fork, '--from-turn', '0')).stdout.trim();
    utimesSync(join(stateDir(), 'threads', id), 0, 0);
    const gone = JSON.parse((await thread('prune', '--max-size', '1', '--dry-run', '--json')).stdout);
    expect(gone.threads.map((one: { thread_id: string }) => one.thread_id)).toEqual([id, fork, again]);
    const old = await runThread([shell('echo 3 > three.txt'), finish]);
    expect((await thread('rollback', old, '--to-turn', '0')).code).toBe(0);
    expect((await thread('rollback', fork, '--to-turn', '1', '--force')).code).toBe(0);
    expect(treeOf(bench.ws)).toEqual(after[1]);
    expect((await thread('diff', again)).stdout).toBe('');
  }, 60_000);

  it('says what is wrong with a command line, and changes nothing', async () => {
    const before = treeOf(bench.ws);
    const count = () => readdirSync(join(stateDir(), 'threads')).length;
    const threads = count();
    const cases: [string[], RegExp][] = [
      [['frobnicate'], /one of list/],
      [['show'], /THREAD is missing/],
      [['show', id, 'x'], /one argument too many/],
      [['show', id, '--force'], /no option --force/],
      [['show', '../../etc'], /no thread/],
      [['diff', id, '1..'], /no range/],
      [['diff', id, '1..99'], /turns 1 to 3/],
      [['rollback', id], /--to-turn/],
      [['rollback', id, '--to-turn', '-1'], /no turn/],
      [['rollback', id, '--to-turn', '99'], /no turn 99/],
      [['fork', id, '--from-turn', '99'], /no turn 99/],
      [['fork', id, '--from-turn', 'final'], /is no turn/],
      [['prune'], /--older-than/],
      [['prune', '--older-than', 'soon'], /duration/],
    ];
    for (const [args, stderr] of cases)
      expect([args, await thread(...args)]).toEqual([
        args,
        expect.objectContaining({ code: 2, stdout: '', stderr: expect.stringMatching(stderr) }),
      ]);
    expect([treeOf(bench.ws), count()]).toEqual([before, threads]);
  }, 120_000);
});
