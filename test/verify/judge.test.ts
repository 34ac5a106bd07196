import { describe, expect, it } from 'vitest';
import { CheckResult } from '../../src/events/index.ts';
import { type Judged, judge, type Round } from '../../src/verify/index.ts';
import { baselineOf, checkOf, red, runOf, verifyOf } from './support.ts';

const attempt = (...runs: Round['runs']): Round => ({
  cleanRoom: false,
  tree: 'T',
  runs,
  status: 'passed',
  reason: null,
});
const final = (...runs: Round['runs']): Round => ({ cleanRoom: true, tree: 'T', runs, status: 'passed', reason: null });
const failed = (round: Round, reason: string): Round => ({ ...round, status: 'failed', reason });
const verify = verifyOf([checkOf('npm test')]);
const judged = (more: Partial<Judged>): Judged => ({
  verify,
  baseline: baselineOf(red('tests')),
  rounds: [],
  tree: 'T',
  violations: [],
  ...more,
});

describe('judge', () => {
  it('verifies a tree whose required checks are green in the clean room', () => {
    expect(judge(judged({ rounds: [attempt(runOf('tests')), final(runOf('tests', { durationMs: 12 }))] }))).toEqual({
      outcome: 'verified',
      reason: 'the required check passed on the final tree in the clean room',
      evidence: 'fixed',
      checks: [
        {
          name: 'tests',
          command: 'npm test',
          required: true,
          baseline: 'failed',
          final: 'passed',
          classification: 'fixed',
          exit_code: 0,
          duration_ms: 12,
          output_sha256: 'a'.repeat(64),
          output_tail: 'out',
          tests: null,
          reason: null,
        },
      ],
    });
  });

  it('does not verify without a green clean room on the final tree', () => {
    const green = runOf('tests');
    const reasons = [
      [],
      [attempt(green)],
      [failed(attempt(red('tests')), 'check tests ended with exit status 1')],
      [attempt(green), failed(final(red('tests')), 'check tests ended with exit status 1')],
      [attempt(green), { ...final(green), tree: 'other' }],
      [final(green), failed(attempt(red('tests')), 'check tests ended with exit status 1')],
      [final()],
      [{ ...final(green), status: 'wall_time' as const, reason: 'check tests did not start: the wall time is over' }],
    ].map((rounds) => judge(judged({ rounds })));
    expect(reasons.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['unverified', 'no check was run after the agent'],
      ['unverified', 'the final round in the clean room did not run'],
      ['unverified', 'check tests ended with exit status 1'],
      ['unverified', 'check tests ended with exit status 1 (clean room)'],
      ['unverified', 'the tree changed after the final round'],
      ['unverified', 'check tests ended with exit status 1'],
      ['unverified', 'check tests has no green result in the clean room'],
      ['unverified', 'check tests did not start: the wall time is over (clean room)'],
    ]);
  });

  it('wants every required check green in the clean room, also one that was green in the loop', () => {
    const checks = [
      checkOf('a', { name: 'fast', when: 'attempt' }),
      checkOf('b', { name: 'slow', when: 'final' }),
      checkOf('c', { name: 'style', required: false }),
    ];
    const both = { verify: verifyOf(checks), baseline: baselineOf(runOf('fast'), runOf('slow'), red('style')) };
    const style = red('style', { required: false });
    const good = judge(judged({ ...both, rounds: [attempt(style), final(runOf('fast'), runOf('slow'))] }));
    const bad = judge(judged({ ...both, rounds: [attempt(runOf('fast'), style), final(runOf('slow'))] }));
    expect([good.outcome, good.evidence, good.reason]).toEqual([
      'verified',
      'kept',
      'all 2 required checks passed on the final tree in the clean room',
    ]);
    expect([bad.outcome, bad.reason]).toEqual(['unverified', 'check fast has no green result in the clean room']);
    expect(good.checks.map(({ name, classification }) => [name, classification])).toEqual([
      ['fast', 'passing'],
      ['slow', 'passing'],
      ['style', 'pre_existing'],
    ]);
  });

  it('wants the evidence that the policy requires', () => {
    const outcome = (require: 'any' | 'kept' | 'fixed', before: typeof runOf) =>
      judge(
        judged({
          verify: { ...verify, require },
          baseline: baselineOf(before('tests')),
          rounds: [final(runOf('tests'))],
        }),
      ).outcome;
    expect(
      (['any', 'kept', 'fixed'] as const).map((require) => [outcome(require, runOf), outcome(require, red)]),
    ).toEqual([
      ['verified', 'verified'],
      ['verified', 'verified'],
      ['unverified', 'verified'],
    ]);
    const unknown = judge(
      judged({ verify: { ...verify, require: 'kept' }, baseline: null, rounds: [final(runOf('tests'))] }),
    );
    expect([unknown.outcome, unknown.evidence]).toEqual(['unverified', 'none']);
  });

  it('puts a broken rule of scope before everything else', () => {
    const said = judge(
      judged({ rounds: [final(runOf('tests'))], violations: ['belay.yml is protected', 'too many files'] }),
    );
    expect([said.outcome, said.reason]).toEqual(['policy_violation', 'belay.yml is protected (and 1 more)']);
  });

  it('calls a run without required checks unchecked', () => {
    const none = judge(judged({ verify: verifyOf([]), rounds: [] }));
    const optional = judge(
      judged({
        verify: verifyOf([checkOf('x', { required: false })]),
        rounds: [final(red('tests', { required: false }))],
      }),
    );
    expect([none.outcome, optional.outcome]).toEqual(['unchecked', 'unchecked']);
    expect(optional.checks[0]?.classification).toBe('pre_existing');
  });

  it('gives checks that satisfy the schema of the result, also when they were cut off or hidden', () => {
    const cut = runOf('tests', { status: 'cancelled', exitCode: null, output: null, reason: 'was cancelled' });
    const [result] = judge(
      judged({ rounds: [{ ...final(cut), status: 'cancelled', reason: 'check tests was cancelled' }] }),
    ).checks;
    expect(CheckResult.parse(result)).toEqual({
      name: 'tests',
      command: 'npm test',
      required: true,
      baseline: 'failed',
      final: 'skipped',
      classification: null,
      exit_code: null,
      duration_ms: 10,
      output_sha256: null,
      output_tail: '',
      tests: null,
      reason: 'was cancelled',
    });
  });
});
