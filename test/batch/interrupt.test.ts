import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { exitCodeOf, JobRecord, Outcome } from '../../src/events/index.ts';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { outcomesOf, runBatch, writeJobs } from './batch-run.ts';

let bench: Bench;

function open(policy: object = {}): Bench {
  const own = {
    version: 1,
    limits: { attempts: 1 },
    verify: { checks: [{ name: 'good', run: 'grep -q good a.txt' }] },
  };
  bench = createBench({ 'belay.yml': JSON.stringify({ ...own, ...policy }), 'a.txt': 'bad\n' });
  commitAll(bench);
  return bench;
}
afterEach(() => bench.remove());

/** Runs of a batch are its child processes. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
const isJob = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--job');
/** All below, as far as they are there when asked. */
function descendantsOf(pid: number): number[] {
  try {
    return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    return [];
  }
}
const isRunning = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
const good = { command: 'echo good > a.txt' };
const slow = { ...good, delayMs: 60_000 };

describe.skipIf(process.platform !== 'linux')('when something ends that should not', () => {
  it('a killed run is the failure of its own job', async () => {
    open();
    const { file, replay } = writeJobs(bench, { before: good, killed: slow, after: good });
    const end = await runBatch([file, '--replay', replay, '--concurrency', '1'], bench, {
      onLine(event, pid) {
        if (event.type === 'turn.started' && event.job_id === 'killed')
          for (const child of childrenOf(pid).filter(isJob)) process.kill(child, 'SIGKILL');
      },
    });
    expect(outcomesOf(end)).toEqual({ before: 'verified', killed: 'internal_error', after: 'verified' });
    expect(end.jobs[1]?.result.reason).toContain('SIGKILL');
    expect([end.code, end.completed?.exit_code]).toEqual([1, 1]);
    const audit = await runCli(['audit', '-'], bench, { stdin: end.lines.map((line) => `${line}\n`).join('') });
    expect(audit.stdout).toMatch(/^ok: /);
  });

  it('a killed batch goes on where it was, and nothing of it stays', async () => {
    open();
    const { file, replay } = writeJobs(bench, { first: good, second: slow, third: good });
    const results = join(bench.io, 'results.jsonl');
    const args = [file, '--replay', replay, '--concurrency', '1', '--results', results];
    const killed = await runBatch(args, bench, {
      onLine(event, pid) {
        if (event.type === 'turn.started' && event.job_id === 'second') process.kill(pid, 'SIGKILL');
      },
    });
    expect([killed.signal, outcomesOf(killed)]).toEqual(['SIGKILL', { first: 'verified' }]);
    expect(bench.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(bench.git('status', '--porcelain')).toBe('');

    writeJobs(bench, { first: good, second: good, third: good });
    const again = await runBatch(args, bench);
    expect(outcomesOf(again)).toEqual({ first: 'verified', second: 'verified', third: 'verified' });
    // A changed cassette is another job; the two others are as they were.
    expect(again.jobs.map(({ job_id, recorded }) => [job_id, recorded])).toEqual([
      ['first', true],
      ['second', false],
      ['third', false],
    ]);
    expect(again.code).toBe(0);
    const lines = readFileSync(results, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JobRecord.parse(JSON.parse(line)).job_id)).toEqual(['first', 'second', 'third']);
    expect(readdirSync(join(bench.root, 'state/belay/batch/trees'))).toEqual([]);
  });

  it('SIGTERM, and a signal after it, gives every job a result, those that ran their own, and batch.completed is last', async () => {
    open();
    const { file, replay } = writeJobs(bench, { one: slow, two: slow, three: good });
    const running = new Set<string>();
    const end = await runBatch([file, '--replay', replay, '--concurrency', '2'], bench, {
      onLine(event, pid) {
        // A second signal, of another kind, hurries nothing: the first one counts.
        if (event.type === 'job.completed') process.kill(pid, 'SIGINT');
        if (event.type !== 'turn.started') return;
        running.add(event.job_id ?? '');
        if (running.size === 2) process.kill(pid, 'SIGTERM');
      },
    });
    expect(outcomesOf(end)).toEqual({ one: 'interrupted', two: 'interrupted', three: 'interrupted' });
    expect([end.code, end.completed?.exit_code, end.completed?.stopped?.kind]).toEqual([143, 143, 'interrupted']);
    expect(end.events.filter((event) => event.type === 'run.completed')).toHaveLength(2);
    expect(readdirSync(join(bench.root, 'state/belay/batch/trees'))).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends every program that a job started, and people are told how far it came', async (signal, code) => {
    open();
    const sleeper = { command: 'echo up; sleep 600' };
    const { file, replay } = writeJobs(bench, { done: good, one: sleeper, two: sleeper, never: good });
    const started = new Set<number>();
    const end = await runBatch([file, '--replay', replay, '--concurrency', '3', '--format', 'text'], bench, {
      onText(text, pid) {
        if (!text.includes('done  verified')) return;
        for (const child of descendantsOf(pid)) started.add(child);
        process.kill(pid, signal);
      },
    });
    expect([end.code, started.size > 0]).toEqual([code, true]);
    expect([...started].filter(isRunning)).toEqual([]);
    expect(end.lines.join('\n')).toMatch(/batch: 1 verified, 3 interrupted; /);
    expect(readdirSync(join(bench.root, 'state/belay/batch/trees'))).toEqual([]);
  });

  it('a process that never begins, and hears nothing, is ended by a signal as well', async () => {
    open();
    const { file, replay } = writeJobs(bench, { one: good, two: good });
    const hook = join(import.meta.dirname, 'hang-at-start-hook.cjs');
    const end = await runBatch([file, '--replay', replay, '--concurrency', '1'], bench, {
      env: { NODE_OPTIONS: `--require ${hook}` },
      onLine(event, pid) {
        if (event.type === 'batch.started') process.kill(pid, 'SIGTERM');
      },
    });
    expect([end.code, outcomesOf(end)]).toEqual([143, { one: 'interrupted', two: 'interrupted' }]);
    expect(readdirSync(join(bench.root, 'state/belay/batch/trees'))).toEqual([]);
  });

  it('a reader that leaves ends the batch, and its results are kept', async () => {
    open();
    const { file, replay } = writeJobs(bench, { one: good, two: good, three: good });
    const results = join(bench.io, 'results.jsonl');
    const end = await runBatch([file, '--replay', replay, '--concurrency', '1', '--results', results], bench, {
      onLine: (event) => event.type === 'turn.started' && event.job_id === 'two',
    });
    expect(end.code).toBe(141);
    const records = readFileSync(results, 'utf8').trimEnd().split('\n');
    const outcomes = records.map((line) => JobRecord.parse(JSON.parse(line)).result.outcome);
    expect([outcomes[0], outcomes.at(-1), outcomes.length]).toEqual(['verified', 'interrupted', 3]);
    expect(readdirSync(join(bench.root, 'state/belay/batch/trees'))).toEqual([]);
  });

  it('stops after like failures in a row, and the next run does what was not started', async () => {
    open({ setup: [{ run: 'false' }] });
    const { file, replay } = writeJobs(bench, { a: good, b: good, c: good, d: good });
    const args = [file, '--replay', replay, '--concurrency', '1', '--stop-after', '2'];
    const end = await runBatch(args, bench);
    expect(outcomesOf(end)).toEqual({ a: 'setup_failed', b: 'setup_failed', c: 'limit_reached', d: 'limit_reached' });
    expect([end.code, end.completed?.stopped?.kind]).toEqual([22, 'stop_after']);
    expect((await runBatch(args, bench)).completed?.recorded).toBe(0);
  });

  it('a budget in tokens over the whole is not overdrawn', async () => {
    open();
    const costly = { ...good, tokens: 20_000 };
    const { file, replay } = writeJobs(bench, { a: costly, b: costly, c: costly, d: costly });
    const end = await runBatch([file, '--replay', replay, '--concurrency', '1', '--total-tokens', '90000'], bench);
    // One at a time, each with what is left: 90,000, 50,000, 10,000, nothing. The third reaches its limit with a tree that is green.
    const jobs = end.jobs.toSorted((one, other) => (one.job_id < other.job_id ? -1 : 1));
    expect(
      jobs.map(({ result, cut_short, runs }) => [result.outcome, result.ended_by, cut_short, runs?.length]),
    ).toEqual([
      ['verified', 'finish', undefined, 1],
      ['verified', 'finish', undefined, 1],
      ['verified', 'tokens', undefined, 1],
      ['limit_reached', 'batch_tokens', true, 0],
    ]);
    expect(end.completed?.usage.input_tokens).toBeLessThanOrEqual(110_000);
    expect(end.code).toBe(11);
  });
});

describe('the Kubernetes manifest', () => {
  const Manifest = z.object({
    spec: z.object({
      completions: z.int(),
      podFailurePolicy: z.object({
        rules: z.array(
          z.object({ action: z.string(), onExitCodes: z.object({ values: z.array(z.int()) }).optional() }),
        ),
      }),
      template: z.object({
        spec: z.object({
          containers: z.array(z.object({ env: z.array(z.object({ name: z.string(), value: z.string().optional() })) })),
        }),
      }),
    }),
  });

  it('names only exit codes that belay has, never 0, and counts as many shards as it starts', () => {
    open();
    const path = new URL('../../examples/kubernetes/nightly-batch.yaml', import.meta.url);
    const { spec } = Manifest.parse(parse(readFileSync(path, 'utf8')));
    const codes = spec.podFailurePolicy.rules.flatMap((rule) => rule.onExitCodes?.values ?? []);
    const known = Outcome.options.map((outcome) => exitCodeOf(outcome, { checksDeclaredEmpty: false }));
    expect(codes.filter((code) => code === 0 || !known.includes(code))).toEqual([]);
    expect(new Set(codes).size).toBe(codes.length);
    const count = spec.template.spec.containers[0]?.env.find(({ name }) => name === 'JOB_COMPLETION_COUNT');
    expect(count?.value).toBe(String(spec.completions));
  });
});
