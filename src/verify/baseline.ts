import { UsageError } from '../errors.ts';
import type { Check, VerifyPolicy } from '../policy/index.ts';
import { type CheckRun, endsRound, hasPassed } from './check-run.ts';
import type { CheckPorts, Place } from './place.ts';
import { type ResettableTree, resetTree } from './reset-tree.ts';
import { runConfirmed } from './run-confirmed.ts';

/** How every check stood before the agent, in the order of the policy. */
export interface Baseline {
  runs: readonly CheckRun[];
}

/** `blocked`: the run ends here, with the outcome given; `cancelled`: by the signal; `wall_time`: the run's time was over. */
export type BaselineEnd =
  | { kind: 'ready'; baseline: Baseline }
  | {
      kind: 'blocked';
      outcome: 'setup_failed' | 'not_reproduced' | 'sandbox_unavailable';
      reason: string;
      baseline: Baseline;
    }
  | { kind: 'cancelled' | 'wall_time'; baseline: Baseline };

export interface BaselineSite {
  workspace: ResettableTree;
  place: Place;
  ports: CheckPorts;
  verify: VerifyPolicy;
}

/**
 * Runs every check once on the base, whenever it is due later. A red one is run again only where its being red by chance would
 * decide the outcome: with `before: pass`, and where `require: fixed` makes it evidence. With `before: fail` the first run counts: a
 * check that fails only sometimes is reproduced when it did.
 *
 * Throws a UsageError when a green check's tests cannot be counted though `expect.tests` asks for it: that can never be met.
 */
export async function runBaseline(site: BaselineSite, signal: AbortSignal): Promise<BaselineEnd> {
  const { workspace, verify, place, ports } = site;
  const runs: CheckRun[] = [];
  if (verify.checks.length === 0) return { kind: 'ready', baseline: { runs } };
  const tree = await workspace.snapshot();
  const reset = () => resetTree(workspace, tree);
  const start = await ports.startServices(place, { secret: false });
  if (start.kind === 'cancelled') return { kind: 'cancelled', baseline: { runs } };
  if (start.kind === 'failed') {
    await reset();
    return { kind: 'blocked', outcome: 'setup_failed', reason: start.reason, baseline: { runs } };
  }
  try {
    for (const check of verify.checks) {
      const retries = isConfirmed(check, verify) ? verify.flakyRetries : 0;
      const run = await runConfirmed(check, { place, ports, testsBefore: null, secret: false, retries, reset }, signal);
      runs.push(run);
      const end = endOf(check, run, { runs });
      if (end !== null) return end;
    }
  } finally {
    await start.services.stop();
    await reset();
  }
  return { kind: 'ready', baseline: { runs } };
}

function isConfirmed(check: Check, verify: VerifyPolicy): boolean {
  return check.before === 'pass' || (check.before === 'any' && check.required && verify.require === 'fixed');
}

function endOf(check: Check, run: CheckRun, baseline: Baseline): BaselineEnd | null {
  if (endsRound(run)) {
    if (run.wallTimeOver) return { kind: 'wall_time', baseline };
    if (run.status === 'cancelled') return { kind: 'cancelled', baseline };
    return {
      kind: 'blocked',
      outcome: 'sandbox_unavailable',
      reason: `check ${check.name} ${run.reason ?? ''}`,
      baseline,
    };
  }
  if (check.expect.testsNotFewer && run.exitCode === 0 && run.tests === null)
    throw new UsageError(
      `verify.checks: ${check.name} expects \`tests: not_fewer\`, but its output does not tell how many tests ran; let its runner print a summary (for go: -v or -json) or drop the expectation`,
      { code: 'tests_not_countable' },
    );
  if (hasPassed(run)) {
    if (check.before === 'fail') {
      const reason = `check ${check.name} passes on the base, where the policy says that it fails: there is nothing to fix`;
      return { kind: 'blocked', outcome: 'not_reproduced', reason, baseline };
    }
    return null;
  }
  if (check.before !== 'pass') return null;
  const reason = `check ${check.name} has to pass before the agent starts, but it ${run.reason ?? 'failed'}`;
  return { kind: 'blocked', outcome: 'setup_failed', reason, baseline };
}
