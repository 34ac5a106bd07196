import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { reserveFor } from '../../src/verify/index.ts';
import { baselineOf, checkOf, runOf, verifyOf } from './support.ts';

const checks = [
  checkOf('a', { name: 'fast', when: 'attempt', required: false }),
  checkOf('b', { name: 'slow', when: 'final' }),
  checkOf('c', { name: 'both' }),
];
const baseline = baselineOf(
  runOf('fast', { durationMs: 50_000 }),
  runOf('slow', { durationMs: 3000 }),
  runOf('both', { durationMs: 1000 }),
);

describe('reserve', () => {
  it('is two passes of what the final checks took, or one where tests are not put back', () => {
    const verify = verifyOf(checks);
    const once = verifyOf(checks, { cleanRoom: { ...verify.cleanRoom, pristineTests: false } });
    expect([reserveFor(baseline, verify, 60_000), reserveFor(baseline, once, 60_000)]).toEqual([8500, 4250]);
  });

  it('is nothing without final checks, and never more than what is left', () => {
    expect([reserveFor(baselineOf(), verifyOf([]), 0), reserveFor(baseline, verifyOf(checks), 8100)]).toEqual([
      0, 8100,
    ]);
  });

  it('is a usage error when the baseline twice over does not fit', () => {
    expect(() => reserveFor(baseline, verifyOf(checks), 7999)).toThrow(UsageError);
    expect(() => reserveFor(baseline, verifyOf(checks), 7999)).toThrow(
      'limits.wall_time is too short: the final checks take 4.0 s',
    );
  });
});
