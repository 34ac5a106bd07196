import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import type { VerifyPolicy } from '../../src/policy/index.ts';
import { runAttemptRound, runBaseline } from '../../src/verify/index.ts';
import { openSite, type Site } from './rounds-support.ts';
import { type Bench, baselineOf, checkOf, verifyOf } from './support.ts';

const never = new AbortController().signal;
const ONCE = 'test -f .seen || { touch .seen; exit 1; }';
let site: Site;

async function open(files = {}): Promise<Site> {
  site = await openSite({ '.gitignore': '.seen\n', 'a.txt': 'a\n', ...files }, 'off');
  return site;
}
afterEach(() => site.dispose());

const baseline = (verify: VerifyPolicy, how: { bench?: Bench; signal?: AbortSignal } = {}) =>
  runBaseline(
    { workspace: site.workspace, place: site.place('baseline'), ports: (how.bench ?? site.bench()).ports, verify },
    how.signal ?? never,
  );
const attempt = (verify: VerifyPolicy, bench = site.bench()) =>
  runAttemptRound(
    { workspace: site.workspace, place: site.place('verify'), ports: bench.ports, verify, baseline: null, attempt: 2 },
    never,
  );
const shown = (runs: readonly { name: string; status: string; flaky: boolean }[]) =>
  runs.map(({ name, status, flaky }) => `${name} ${status}${flaky ? ' flaky' : ''}`);

describe('baseline', () => {
  it('runs every check once, whenever it is due later', async () => {
    await open();
    const bench = site.bench();
    const end = await baseline(
      verifyOf(
        [
          checkOf('true', { name: 'a', when: 'attempt' }),
          checkOf('exit 1', { name: 'b', when: 'final' }),
          checkOf('exit 2', { name: 'c', required: false }),
        ],
        { flakyRetries: 3 },
      ),
      { bench },
    );
    expect([end.kind, shown(end.baseline.runs)]).toEqual(['ready', ['a passed', 'b failed', 'c failed']]);
    expect(bench.items().map(({ id, name, exit_code }) => [id, name, exit_code])).toEqual([
      ['item_0', 'a', 0],
      ['item_1', 'b', 1],
      ['item_2', 'c', 2],
    ]);
  });

  it('is blocked by a check that must pass before and fails each time', async () => {
    await open();
    const end = await baseline(
      verifyOf([checkOf('exit 1', { before: 'pass' }), checkOf('touch ran', { name: 'later' })], { flakyRetries: 1 }),
    );
    expect({ ...end, baseline: shown(end.baseline.runs) }).toEqual({
      kind: 'blocked',
      outcome: 'setup_failed',
      reason: 'check tests has to pass before the agent starts, but it ended with exit status 1',
      baseline: ['tests failed'],
    });
    expect(existsSync(site.path('ran'))).toBe(false);
  });

  it('goes on when such a check passes the second time', async () => {
    await open();
    const end = await baseline(verifyOf([checkOf(ONCE, { before: 'pass' })], { flakyRetries: 1 }));
    expect([end.kind, shown(end.baseline.runs)]).toEqual(['ready', ['tests passed flaky']]);
  });

  it('has nothing to fix where a check that must fail before passes', async () => {
    await open();
    const end = await baseline(verifyOf([checkOf('true', { before: 'fail' })]));
    expect({ ...end, baseline: [] }).toEqual({
      kind: 'blocked',
      outcome: 'not_reproduced',
      reason: 'check tests passes on the base, where the policy says that it fails: there is nothing to fix',
      baseline: [],
    });
  });

  it('takes one red run as reproduced, and asks again only where red is evidence', async () => {
    await open();
    const reproduced = await baseline(
      verifyOf([checkOf(ONCE, { before: 'fail' })], { flakyRetries: 1, require: 'fixed' }),
    );
    const evidence = await baseline(
      verifyOf([checkOf('test -f .seen2 || { touch .seen2; exit 1; }')], { flakyRetries: 1, require: 'fixed' }),
    );
    expect([shown(reproduced.baseline.runs), shown(evidence.baseline.runs)]).toEqual([
      ['tests failed'],
      ['tests failed'],
    ]);
    const ignored = await baseline(
      verifyOf([checkOf('test -f .git/seen || { touch .git/seen; exit 1; }')], { flakyRetries: 1, require: 'fixed' }),
    );
    expect(shown(ignored.baseline.runs)).toEqual(['tests passed flaky']);
  });

  it('leaves the tree as it was', async () => {
    await open();
    await baseline(verifyOf([checkOf('echo changed > a.txt; touch new.txt; touch .seen')]));
    expect([
      readFileSync(site.path('a.txt'), 'utf8'),
      existsSync(site.path('new.txt')),
      existsSync(site.path('.seen')),
    ]).toEqual(['a\n', false, true]);
  });

  it('refuses an expectation that no output will ever meet', async () => {
    await open();
    const expecting = { expect: { matches: null, testsNotFewer: true } };
    await expect(baseline(verifyOf([checkOf('echo fine', expecting)]))).rejects.toThrow(UsageError);
    const counted = await baseline(verifyOf([checkOf('echo 5 passed in 0.1s', expecting)]));
    expect(counted.baseline.runs.map((run) => run.tests)).toEqual([5]);
  });

  it('ends when the signal comes or the time is over', async () => {
    await open();
    const verify = verifyOf([checkOf('true'), checkOf('true', { name: 'second' })]);
    const cancelled = await baseline(verify, { signal: AbortSignal.abort() });
    const late = await baseline(verify, { bench: site.bench({ timeLeftMs: () => 0 }) });
    expect([cancelled.kind, late.kind]).toEqual(['cancelled', 'wall_time']);
  });

  it('is empty without checks', async () => {
    await open();
    expect(await baseline(verifyOf([]))).toEqual({ kind: 'ready', baseline: baselineOf() });
  });
});

describe('attempt-round', () => {
  it('runs the checks of the loop in the workspace and tells how it went', async () => {
    await open();
    site.write({ 'a.txt': 'b\n' });
    const bench = site.bench();
    const round = await attempt(
      verifyOf([
        checkOf('grep -q a a.txt'),
        checkOf('exit 7', { name: 'style', required: false }),
        checkOf('true', { name: 'slow', when: 'final' }),
      ]),
      bench,
    );
    expect({ ...round, runs: shown(round.runs) }).toEqual({
      cleanRoom: false,
      tree: await site.workspace.snapshot(),
      runs: ['tests failed', 'style failed'],
      status: 'failed',
      reason: 'check tests ended with exit status 1',
    });
    expect(bench.events.at(0)).toEqual({ type: 'verification.started', attempt: 2, clean_room: false });
    expect(bench.events.at(-1)).toEqual({
      type: 'verification.completed',
      attempt: 2,
      clean_room: false,
      passed: false,
      checks: [
        { name: 'tests', required: true, passed: false, exit_code: 1, flaky: false },
        { name: 'style', required: false, passed: false, exit_code: 7, flaky: false },
      ],
    });
  });

  it('retries a failing check on the same tree, and leaves that tree behind', async () => {
    await open();
    const sees = 'echo x >> a.txt; wc -l < a.txt; ';
    const bench = site.bench();
    const round = await attempt(verifyOf([checkOf(`${sees}${ONCE}`)], { flakyRetries: 2 }), bench);
    expect([round.status, shown(round.runs)]).toEqual(['passed', ['tests passed flaky']]);
    expect(bench.items().map(({ aggregated_output, passed }) => [aggregated_output.trim(), passed])).toEqual([
      ['2', false],
      ['2', true],
    ]);
    expect(readFileSync(site.path('a.txt'), 'utf8')).toBe('a\n');
    expect(round.tree).toBe(site.start);
  });

  it('passes untold without checks of its own', async () => {
    await open();
    const bench = site.bench();
    const round = await attempt(verifyOf([checkOf('false', { when: 'final' })]), bench);
    expect([round.status, round.runs, bench.events]).toEqual(['passed', [], []]);
  });

  it('adds up what a retried check took', async () => {
    await open();
    const bench = site.bench();
    const round = await attempt(verifyOf([checkOf('exit 1')], { flakyRetries: 2 }), bench);
    const spent = bench.items().map((item) => item.duration_ms ?? Number.NaN);
    expect(spent).toHaveLength(3);
    expect(round.runs.map((run) => run.durationMs)).toEqual([spent.reduce((sum, ms) => sum + ms, 0)]);
  });
});
