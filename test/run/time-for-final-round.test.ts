import { expect, it } from 'vitest';
import { timeForFinalRound } from '../../src/run/time-for-final-round.ts';
import { loadText } from '../policy/policy-of.ts';
import { baselineOf, runOf } from '../verify/support.ts';

const { policy } = await loadText(
  'version: 1\nlimits: {wall_time: 100s}\nverify: {checks: [{name: c, run: "true"}], clean_room: {pristine_tests: false}}\n',
);

/** A run of which `ownMs` are used, `checkMs` of them by its one check, in a thread that had run for `pastMs` before. */
function timeFor(run: { checkMs: number; ownMs: number; pastMs: number | null; cappedByBatch?: boolean }) {
  const { checkMs, ownMs, pastMs, cappedByBatch = false } = run;
  const elapsedMs = (pastMs ?? 0) + ownMs;
  const context = {
    ...{ policy, request: { cappedByBatch } },
    ...{ elapsedMs: () => elapsedMs, timeLeftMs: () => policy.limits.wallTimeMs - elapsedMs },
  };
  return timeForFinalRound(
    context,
    baselineOf(runOf('c', { durationMs: checkMs })),
    pastMs === null ? null : { elapsedMs: pastMs },
  );
}

it('is what the checks took, where there is as much twice over', () => {
  expect(timeFor({ checkMs: 10_000, ownMs: 80_000, pastMs: null })).toBe(10_250);
  expect(timeFor({ checkMs: 10_000, ownMs: 20_000, pastMs: 60_000 })).toBe(10_250);
});

it('that a policy never gives is a usage error, also when a thread goes on', () => {
  const tooShort = expect.objectContaining({ name: 'UsageError', code: 'wall_time_too_short' });
  expect(() => timeFor({ checkMs: 40_000, ownMs: 41_000, pastMs: null })).toThrow(tooShort);
  expect(() => timeFor({ checkMs: 40_000, ownMs: 41_000, pastMs: 50_000 })).toThrow(tooShort);
});

it('that earlier runs or the batch have used is a limit', () => {
  const limit = { outcome: 'limit_reached', endedBy: 'wall_time' };
  expect(timeFor({ checkMs: 40_000, ownMs: 20_000, pastMs: 50_000 })).toMatchObject({
    ...limit,
    reason: expect.stringContaining('70.0 s of 100.0 s used, 50.0 s of them by earlier runs of the thread'),
  });
  expect(timeFor({ checkMs: 40_000, ownMs: 41_000, pastMs: null, cappedByBatch: true })).toMatchObject({
    ...limit,
    reason: expect.stringContaining("of the batch's wall time"),
  });
});
