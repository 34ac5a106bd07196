import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench } from '../scenario.ts';
import { type BatchEnd, runBatch, writeJobs } from './batch-run.ts';

let bench: Bench;
afterEach(() => bench.remove());

const good = { command: 'echo good > a.txt', tokens: 20_000 };

function open(policy: object = {}): void {
  bench = createBench({
    'belay.yml': JSON.stringify({
      version: 1,
      // 20,000 tokens are 0.2 USD.
      model: { provider: 'openai', name: 'some-model', price: { input: 10, cached_input: 10, output: 10 } },
      limits: { attempts: 1, cost_usd: 1 },
      verify: { checks: [{ name: 'good', run: 'grep -q good a.txt' }] },
      ...policy,
    }),
    'a.txt': 'bad\n',
  });
  commitAll(bench);
}
const endsOf = (end: BatchEnd) =>
  Object.fromEntries(end.jobs.map(({ job_id, result, cut_short }) => [job_id, [result.ended_by, cut_short === true]]));

describe('a limit over the whole batch', () => {
  it('in USD is not overdrawn by more than an answer, and what it kept from starting is done by the next run', async () => {
    open();
    const { file, replay } = writeJobs(bench, { a: good, b: good, c: good, d: good });
    const args = [file, '--replay', replay, '--concurrency', '2'];
    const end = await runBatch([...args, '--total-cost-usd', '1'], bench);
    expect(end.completed?.cost_usd, end.stderr).toBeLessThanOrEqual(1.2);
    expect(end.completed?.measures.verified).toBeGreaterThanOrEqual(2);
    const cut = Object.entries(endsOf(end)).filter(([, [, isCut]]) => isCut);
    expect(cut.length).toBeGreaterThanOrEqual(1);
    expect(end.code).toBe(11);

    const rest = await runBatch(args, bench);
    expect([rest.code, rest.completed?.outcomes, rest.completed?.recorded]).toEqual([
      0,
      { verified: 4 },
      4 - cut.length,
    ]);
  });

  it('in time ends what runs and starts nothing more', async () => {
    open();
    const slow = { ...good, delayMs: 600_000 };
    const { file, replay } = writeJobs(bench, { a: slow, b: slow, c: good });
    const args = [file, '--replay', replay, '--concurrency', '1'];
    const end = await runBatch([...args, '--total-wall-time', '8s'], bench);
    // What the first leaves of the time may be nothing, or so little that the second ends at its start.
    const late = expect.stringMatching(/^(batch_)?wall_time$/);
    expect(endsOf(end), end.stderr).toEqual({
      a: ['wall_time', true],
      b: [late, true],
      c: ['batch_wall_time', true],
    });
    expect([end.code, end.completed?.stopped?.kind]).toEqual([11, 'wall_time']);
    expect(end.jobs[2]?.result.reason).toContain("the batch's wall time of 8 s is over");
  });

  it('in time that leaves too little to verify in ends a job by that limit, not as a mistake of its policy', async () => {
    open({ verify: { checks: [{ name: 'slow', run: 'sleep 1; grep -q good a.txt' }] } });
    const { file, replay } = writeJobs(bench, { a: good });
    const end = await runBatch([file, '--replay', replay, '--total-wall-time', '2s'], bench);
    expect([end.code, end.completed?.outcomes, endsOf(end)]).toEqual([
      11,
      { limit_reached: 1 },
      { a: ['wall_time', true] },
    ]);
    const rest = await runBatch([file, '--replay', replay], bench);
    expect([rest.code, rest.completed?.outcomes]).toEqual([0, { verified: 1 }]);
  });

  it.each([
    [['--total-cost-usd', '0']],
    [['--total-cost-usd', '-1']],
    [['--total-tokens', '1.5']],
    [['--total-wall-time', 'soon']],
  ])('is refused where it is none: %j', async (args) => {
    open();
    const { file, replay } = writeJobs(bench, { a: good });
    const end = await runBatch([file, '--replay', replay, ...args], bench);
    expect([end.code, end.stderr.includes(args[0] ?? '')]).toEqual([2, true]);
  });

  it('in USD is refused for a model whose price is not known', async () => {
    open({ model: { provider: 'openai', name: 'some-model' }, limits: { attempts: 1 } });
    const { file } = writeJobs(bench, { a: good });
    const end = await runBatch([file, '--total-cost-usd', '1'], bench, { env: { OPENAI_API_KEY: 'none' } });
    expect([end.code, end.stderr]).toEqual([2, expect.stringMatching(/jobs\.jsonl:1: .*price.*model\.price/s)]);
  });
});
