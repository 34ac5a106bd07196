import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Classification } from '../../src/events/index.ts';
import { classify, evidenceOf, type Seen } from '../../src/verify/index.ts';

const colour = fc.constantFrom('passed' as const, 'failed' as const, null);
const seen: fc.Arbitrary<Seen> = fc.record({
  required: fc.boolean(),
  before: colour,
  after: colour,
  flaky: fc.boolean(),
});

describe('classify', () => {
  it('names what became of a check', () => {
    const table: [Seen['before'], Seen['after'], boolean, boolean, Classification | null][] = [
      ['failed', 'passed', true, false, 'fixed'],
      ['passed', 'passed', true, false, 'passing'],
      [null, 'passed', true, false, 'passing'],
      ['passed', 'failed', true, false, 'regressed'],
      ['passed', 'failed', false, false, 'regressed'],
      ['failed', 'failed', true, false, 'still_failing'],
      ['failed', 'failed', false, false, 'pre_existing'],
      [null, 'failed', true, false, 'still_failing'],
      ['failed', 'passed', true, true, 'flaky'],
      ['passed', 'passed', false, true, 'flaky'],
      ['passed', 'failed', true, true, 'flaky'],
      ['passed', null, true, false, null],
      [null, null, false, true, null],
    ];
    expect(table.map(([before, after, required, flaky]) => classify({ before, after, required, flaky }))).toEqual(
      table.map((row) => row[4]),
    );
  });

  it('has an answer for everything seen, and none only for what was not run at the end', () => {
    fc.assert(
      fc.property(seen, (one) => {
        const answer = classify(one);
        expect(answer === null).toBe(one.after === null);
        if (answer !== null) expect(Classification.options).toContain(answer);
        if (one.after === 'failed' && !one.flaky)
          expect(['regressed', 'still_failing', 'pre_existing']).toContain(answer);
      }),
    );
  });
});

describe('evidence', () => {
  const of = (before: Seen['before'], after: Seen['after'], required = true, flaky = false): Seen => ({
    before,
    after,
    required,
    flaky,
  });

  it('is `fixed` for a required check that went from red to green, `kept` when all stayed green', () => {
    expect([
      evidenceOf([of('failed', 'passed'), of('passed', 'passed')]),
      evidenceOf([of('passed', 'passed'), of('failed', 'failed', false)]),
      evidenceOf([of('passed', 'passed', true, true)]),
      evidenceOf([of('failed', 'passed', true, true)]),
      evidenceOf([of('failed', 'passed', false)]),
      evidenceOf([of(null, 'passed')]),
      evidenceOf([of('passed', 'failed'), of('passed', 'passed')]),
      evidenceOf([]),
    ]).toEqual(['fixed', 'kept', 'kept', 'none', 'none', 'none', 'none', 'none']);
  });

  it('does not depend on the order of checks', () => {
    fc.assert(
      fc.property(fc.array(seen), (checks) => {
        expect(evidenceOf(checks.toReversed())).toBe(evidenceOf(checks));
      }),
    );
  });
});
