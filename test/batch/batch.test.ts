import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { JobRecord } from '../../src/events/index.ts';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';
import { outcomesOf, runBatch, writeJobs } from './batch-run.ts';

const POLICY = {
  version: 1,
  limits: { attempts: 1 },
  verify: { checks: [{ name: 'good', run: 'grep -q good a.txt' }] },
};
let bench: Bench;

function open(files: Record<string, string> = {}, policy: object = POLICY): Bench {
  bench = createBench({ 'belay.yml': JSON.stringify(policy), 'a.txt': 'bad\n', ...files });
  commitAll(bench);
  return bench;
}
const treesLeft = () => readdirSync(join(bench.root, 'state/belay/batch/trees'));
const put = (name: string, text: string) => {
  writeFileSync(join(bench.io, name), text);
  return join(bench.io, name);
};

afterEach(() => bench.remove());

describe('a batch', () => {
  it("gives every job a verdict from a tree of its own, leaves the user's checkout alone, and does nothing twice", async () => {
    open();
    bench.git('checkout', '-q', '-b', 'other');
    bench.write('only-other.txt', 'x\n');
    commitAll(bench);
    bench.git('checkout', '-q', 'main');
    const { file, replay } = writeJobs(bench, {
      one: { command: 'git log --oneline | wc -l; echo good one > a.txt' },
      two: { command: 'echo bad two > a.txt' },
      three: { command: 'cat only-other.txt && echo good three > a.txt', more: { ref: 'other' } },
    });
    bench.write('mine.txt', 'not committed\n');
    const before = treeOf(bench.ws);
    const git = () => [bench.git('worktree', 'list'), bench.git('for-each-ref'), bench.git('status', '--porcelain')];
    const state = git();
    const results = join(bench.io, 'results.jsonl');
    const patches = join(bench.io, 'patches');
    const events = join(bench.io, 'events.jsonl');
    const args = [file, '--replay', replay, '--results', results, '--patches', patches, '--concurrency', '2'];
    const end = await runBatch([...args, '--events', events], bench);

    expect(outcomesOf(end)).toEqual({ one: 'verified', two: 'unverified', three: 'verified' });
    expect(end.code).toBe(10);
    let atOnce = 0;
    for (const { type } of end.events) {
      if (type === 'run.started') atOnce++;
      if (type === 'run.completed') atOnce--;
      expect(atOnce).toBeLessThanOrEqual(2);
    }
    expect(end.completed).toMatchObject({
      jobs: 3,
      outcomes: { verified: 2, unverified: 1 },
      exit_code: 10,
      recorded: 0,
      measures: { completion_rate: 2 / 3, runs: 3 },
    });
    expect([treeOf(bench.ws), git(), treesLeft()]).toEqual([before, state, []]);
    expect(readdirSync(patches).sort()).toEqual(['one.patch', 'three.patch', 'two.patch']);
    const log = end.events.find((event) => event.type === 'item.completed' && event.phase === 'agent');
    expect(log?.type === 'item.completed' && log.item.status).toBe('completed');

    // The lines of one run are a stream of their own, and the whole is one, too.
    expect(readFileSync(events, 'utf8').trimEnd().split('\n')).toEqual(end.lines);
    expect((await runCli(['audit', events], bench)).stdout).toMatch(/^ok: \d+ events, 3 runs, 3 jobs, exit code 10\n$/);
    const runId = end.jobs[0]?.result.run_id ?? '';
    const own = end.lines.filter((line) => line.includes(`"run_id":"${runId}","job_id"`));
    const audited = await runCli(['audit', put('one.jsonl', own.map((line) => `${line}\n`).join(''))], bench);
    expect(audited.code).toBe(0);
    const broken = put(
      'broken.jsonl',
      end.lines
        .filter((_, at) => at !== 5)
        .join('\n')
        .concat('\n'),
    );
    expect((await runCli(['audit', broken], bench)).code).toBe(17);

    const again = await runBatch(args, bench);
    expect([outcomesOf(again), again.events, again.code]).toEqual([outcomesOf(end), [], 10]);
    expect(again.jobs.map((job) => job.recorded)).toEqual([true, true, true]);
    // The file alone is enough on a fresh machine.
    const fresh = await runBatch(args, bench, { env: { XDG_STATE_HOME: join(bench.root, 'elsewhere') } });
    expect([fresh.completed?.recorded, fresh.events]).toEqual([3, []]);
    const records = readFileSync(results, 'utf8').trimEnd().split('\n');
    expect(records.map((line) => JobRecord.parse(JSON.parse(line)).job_id).sort()).toEqual(['one', 'three', 'two']);
  });

  it('runs setup once for all jobs on the same commit, and gives each what it left', async () => {
    open(
      { '.gitignore': 'deps/\n' },
      {
        ...POLICY,
        setup: [{ run: 'mkdir deps && od -An -N8 -tx1 /dev/urandom | tee deps/stamp > "$HOME/stamp"' }],
        verify: { checks: [{ name: 'same', run: 'cmp deps/stamp "$HOME/stamp" && cmp deps/stamp a.txt' }] },
      },
    );
    const command = 'cmp "$HOME/stamp" deps/stamp && cp deps/stamp a.txt';
    const { file, replay } = writeJobs(bench, { one: { command }, two: { command }, three: { command } });
    const end = await runBatch([file, '--replay', replay, '--concurrency', '2'], bench);
    expect(outcomesOf(end)).toEqual({ one: 'verified', two: 'verified', three: 'verified' });
    expect(new Set(end.jobs.map((job) => job.result.changes.patch_sha256)).size).toBe(1);
    const setups = end.events.filter((event) => event.type === 'item.completed' && event.phase === 'setup');
    const ran = setups.filter(
      (event) => event.type === 'item.completed' && 'exit_code' in event.item && event.item.exit_code === 0,
    );
    expect([setups.length, ran.length, treesLeft()]).toEqual([3, 1, []]);
  });

  it('keeps the verified alternative with its patch, and tells of the others', async () => {
    open();
    const { file, replay } = writeJobs(bench, { one: { command: 'echo good > a.txt' } });
    const patches = join(bench.io, 'patches');
    const end = await runBatch([file, '--replay', replay, '--attempts-per-job', '2', '--patches', patches], bench);
    expect([outcomesOf(end), end.jobs[0]?.runs?.length, end.code]).toEqual([{ one: 'verified' }, 2, 0]);
    expect(readdirSync(patches).sort()).toEqual(['one.1.patch', 'one.2.patch', 'one.patch']);
  });

  it('combines the verified patches, and names the jobs that do not go together', async () => {
    open(
      { 'x.txt': '0\n', 'y.txt': '0\n' },
      { ...POLICY, verify: { checks: [{ name: 'not both', run: '! (grep -q 1 x.txt && grep -q 1 y.txt)' }] } },
    );
    const { file, replay } = writeJobs(bench, {
      first: { command: 'echo 1 > x.txt' },
      clash: { command: 'echo 2 > x.txt' },
      red: { command: 'echo 1 > y.txt' },
      fine: { command: 'echo 1 > z.txt' },
    });
    const union = join(bench.io, 'union.patch');
    const end = await runBatch([file, '--replay', replay, '--combine', union], bench);
    expect(end.completed?.outcomes).toEqual({ verified: 4 });
    expect(end.completed?.combination).toMatchObject({
      jobs: ['first', 'fine'],
      left_out: [
        { job_id: 'clash', reason: 'does_not_apply', with: ['first'] },
        { job_id: 'red', reason: 'checks_fail', with: ['first'] },
      ],
      outcome: 'verified',
    });
    expect(end.code).toBe(10);
    bench.git('apply', union);
    expect([bench.read('x.txt'), bench.read('y.txt'), existsSync(join(bench.ws, 'z.txt'))]).toEqual([
      '1\n',
      '0\n',
      true,
    ]);
  });

  it('protects the policy of each job by its name and by every link to it, and tells what ended before belay failed', async () => {
    open({ 'rules/strict[1].yml': JSON.stringify({ version: 1, verify: { checks: [] } }) });
    symlinkSync('rules', join(bench.ws, 'set'));
    symlinkSync('set/strict[1].yml', join(bench.ws, 'link.yml'));
    commitAll(bench);
    const more = { policy: join(bench.ws, 'link.yml') };
    const { file, replay } = writeJobs(bench, {
      name: { command: "echo '# mine' >> 'rules/strict[1].yml'; cp a.txt b.txt", more },
      link: { command: 'rm -f link.yml set; cp rules/* link.yml; cp -r rules set; cp a.txt b.txt', more },
      never: { command: 'true', more },
    });
    const locks = join(bench.root, 'state/belay/batch/locks');
    const end = await runBatch([file, '--replay', replay, '--concurrency', '1'], bench, {
      onLine(event) {
        if (event.type !== 'job.completed' || event.job_id !== 'link') return;
        renameSync(locks, `${locks}.gone`);
        writeFileSync(locks, '');
      },
    });
    // A link cannot be mounted over: the final tree tells.
    expect(outcomesOf(end)).toMatchObject({ name: 'unchecked', link: 'policy_violation' });
    expect(end.jobs[0]?.result.changes.files.map(({ path }) => path)).toEqual(['b.txt']);
    expect(end.jobs[1]?.result.reason).toContain('link.yml');
    expect(end.completed).toMatchObject({
      batch: { jobs: 3 },
      shard: end.jobs[0]?.shard,
      jobs: end.jobs.length,
      outcomes: expect.objectContaining({ unchecked: 1, policy_violation: 1 }),
      usage: { requests: end.jobs.reduce((sum, { result }) => sum + result.usage.requests, 0) },
      stopped: { kind: 'internal_error', reason: expect.stringContaining('belay could not use its files') },
    });
    expect([end.code, end.completed?.exit_code, treesLeft()]).toEqual([1, 1, []]);
  });

  it('is refused with the line of every fault before anything runs', async () => {
    open();
    mkdirSync(join(bench.io, 'goals'));
    const lines = [
      '{"id":"a","goal":"fine"}',
      '{"id":"b"}',
      'no json',
      '{"id":"a","goal":"again"}',
      '{"id":"c","goal":"x","unknown":1}',
      '',
      '{"id":"d","goal_file":"goals/none.md"}',
    ];
    const { code, stderr } = await runBatch([put('bad.jsonl', `${lines.join('\n')}\n`)], bench);
    expect(code).toBe(2);
    for (const at of [2, 3, 4, 5]) expect(stderr).toMatch(new RegExp(`bad\\.jsonl:${at}: `));
    const loose = [
      '{"id":"a","goal_file":"goals/none.md"}',
      '{"id":"b","goal":"x","ref":"no-such-ref"}',
      '{"id":"c","goal":"x","limits":{"turns":99999}}',
      '{"id":"d","goal":"x","policy":"none.yml"}',
    ];
    const second = await runBatch([put('loose.jsonl', loose.join('\n')), '--model', 'openai/x'], bench);
    expect(second.code).toBe(2);
    for (const at of [1, 2, 3, 4]) expect(second.stderr).toMatch(new RegExp(`loose\\.jsonl:${at}: `));
    expect(existsSync(join(bench.root, 'state/belay/threads'))).toBe(false);
  });
});
