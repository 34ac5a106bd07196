import { describe, expect, it } from 'vitest';
import { chooseAlternative } from '../../src/batch/choose-alternative.ts';
import { measure } from '../../src/batch/measure.ts';
import { createStopRule } from '../../src/batch/stop-rule.ts';
import { isDone, worstExit } from '../../src/batch/worst-exit.ts';
import { BatchMeasures } from '../../src/events/index.ts';
import { recordOf, resultOf, runOf } from './record.ts';

describe('measures', () => {
  it('tell what a batch came to, with the failure-aware cost of a further job', () => {
    const records = [
      recordOf(
        'a',
        { checks: [{ final: 'passed' }, { final: 'failed', classification: 'regressed' }] },
        { runs: [runOf({ tokens: 1000, costUsd: 0.01 }), runOf({ tokens: 3000, costUsd: 0.03 })] },
      ),
      recordOf('b', { outcome: 'unverified' }, { runs: [runOf({ tokens: 2000, costUsd: 0.02 })] }),
    ];
    const measures = BatchMeasures.parse(measure(records));
    // 2,000 tokens a run × 10 USD a million × 1.5 runs a job × (1 + 0.5)
    expect(measures).toMatchObject({
      jobs: 2,
      verified: 1,
      completion_rate: 0.5,
      checks: { run: 2, passed: 1, pass_rate: 0.5, regressed: 1 },
      runs: 3,
      per_verified_job: { attempts: 1, turns: 2, tool_calls: 3, duration_ms: 1000 },
      time: { jobs_ms: 2000, median_job_ms: 1000, p90_job_ms: 1000 },
      cost: { tokens_per_run: 2000, retries: 1.5, failure_rate: 0.5 },
    });
    expect(measures.per_verified_job.cost_usd).toBeCloseTo(0.06);
    expect(measures.cost.usd_per_million_tokens).toBeCloseTo(10);
    expect(measures.cost.usd_per_job).toBeCloseTo(0.045);
  });

  it('leave every figure in USD null when the price of one run is unknown', () => {
    const { per_verified_job, cost } = measure([
      recordOf('a', {}, { runs: [runOf({ tokens: 10, costUsd: 1 })] }),
      recordOf('b', {}, { runs: [runOf({ tokens: 10, costUsd: null })] }),
    ]);
    expect([per_verified_job.cost_usd, cost.usd_per_million_tokens, cost.usd_per_job]).toEqual([null, null, null]);
    expect(cost.tokens_per_run).toBe(10);
  });

  it('divide by nothing without a job, and without a verified one', () => {
    expect(BatchMeasures.parse(measure([])).completion_rate).toBeNull();
    expect(measure([recordOf('a', { outcome: 'gave_up' })]).per_verified_job.turns).toBeNull();
  });
});

describe('the worst job', () => {
  it('is the one furthest down the table of outcomes, whatever its number', () => {
    const exit = (...outcomes: Parameters<typeof resultOf>[0][]) => worstExit(outcomes.map((facts) => resultOf(facts)));
    expect(exit()).toBe(0);
    expect(exit({}, {})).toBe(0);
    expect(exit({ outcome: 'not_reproduced' }, { outcome: 'internal_error' })).toBe(1);
    expect(exit({ outcome: 'unverified' }, { outcome: 'gave_up' }, {})).toBe(14);
    expect(exit({ outcome: 'interrupted' }, { outcome: 'busy' })).toBe(130);
  });

  it('is over only where the verdict is about the job', () => {
    expect(isDone(recordOf('a', { outcome: 'unverified' }))).toBe(true);
    expect(isDone(recordOf('a', { outcome: 'model_failed' }))).toBe(false);
    expect(isDone(recordOf('a', { outcome: 'limit_reached' }, { cut_short: true }))).toBe(false);
  });
});

describe('of alternatives', () => {
  it('the verified one with the smallest change is kept, else the one that came furthest', () => {
    const choose = (...all: Parameters<typeof resultOf>[0][]) => chooseAlternative(all.map((facts) => resultOf(facts)));
    expect(choose({ lines: 9 }, { outcome: 'gave_up' }, { lines: 3 }, { lines: 3 })).toBe(2);
    expect(choose({ outcome: 'model_failed' }, { outcome: 'unverified', lines: 90 })).toBe(1);
  });
});

describe('stop_after', () => {
  const stopsAt = (stopAfter: number | null, outcomes: Parameters<typeof resultOf>[0][]) => {
    const rule = createStopRule(stopAfter);
    return outcomes.findIndex((facts) => rule.note(resultOf(facts)) !== null);
  };
  it('stops after so many like failures in a row', () => {
    const failed = { outcome: 'unverified' } as const;
    expect(stopsAt(2, [failed, {}, failed, { outcome: 'gave_up' }, failed, failed])).toBe(5);
    expect(
      stopsAt(
        0,
        Array.from({ length: 50 }, () => failed),
      ),
    ).toBe(-1);
  });
  it('stops by itself after five failures that every job would meet, and for no verdict about a job', () => {
    const down = { outcome: 'model_failed', errorCode: 'http_503' } as const;
    expect(stopsAt(null, [down, down, down, down, { ...down, errorCode: 'http_401' }, down])).toBe(-1);
    expect(stopsAt(null, [down, down, down, down, down])).toBe(4);
    expect(
      stopsAt(
        null,
        Array.from({ length: 50 }, () => ({ outcome: 'unverified' }) as const),
      ),
    ).toBe(-1);
  });
});
