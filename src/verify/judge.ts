import type { CheckResult, CheckStatus } from '../events/index.ts';
import type { Check, VerifyPolicy } from '../policy/index.ts';
import type { TreeId } from '../workspace/index.ts';
import type { Baseline } from './baseline.ts';
import { type CheckRun, hasPassed } from './check-run.ts';
import { classify, evidenceOf, type Seen } from './classify.ts';
import type { Round } from './round.ts';

export interface Judged {
  verify: VerifyPolicy;
  baseline: Baseline | null;
  /** Every round of the run, oldest first. */
  rounds: readonly Round[];
  /** The final tree; null when nobody knows it. */
  tree: TreeId | null;
  /** Rules of scope, size and integrity that the final tree breaks, a sentence each. */
  violations: readonly string[];
}

export interface Verdict {
  outcome: 'verified' | 'unverified' | 'policy_violation' | 'unchecked';
  /** One sentence without its full stop. */
  reason: string;
  evidence: 'fixed' | 'kept' | 'none';
  checks: readonly CheckResult[];
}

/**
 * The verdict on a run, from what was seen of it. A check's `final` is its last run on the final tree, null where there was none.
 * Verified takes a last round in a clean room on the final tree, and every required check green in that round: what it said in the
 * workspace, beside the agent's ignored files, proves nothing.
 */
export function judge({ verify, baseline, rounds, tree, violations }: Judged): Verdict {
  const here = rounds.filter((round) => round.tree === tree);
  const views = verify.checks.map((check) => viewOf(check, baseline, here));
  const evidence = evidenceOf(views.map((view) => view.seen));
  const said = { evidence, checks: views.map((view) => view.result) };
  const violation = violations[0];
  if (violation !== undefined) {
    const more = violations.length === 1 ? '' : ` (and ${violations.length - 1} more)`;
    return { outcome: 'policy_violation', reason: `${violation}${more}`, ...said };
  }
  const required = verify.checks.filter((check) => check.required);
  if (required.length === 0) {
    const reason = verify.checks.length === 0 ? 'the policy has no checks' : 'the policy has no required checks';
    return { outcome: 'unchecked', reason, ...said };
  }
  const fault = faultOf(required, rounds.at(-1), here) ?? requireFault(verify, evidence);
  if (fault !== null) return { outcome: 'unverified', reason: fault, ...said };
  const count = required.length === 1 ? 'the required check' : `all ${required.length} required checks`;
  return { outcome: 'verified', reason: `${count} passed on the final tree in the clean room`, ...said };
}

/** Why the final tree is not green, or null. `here`: the rounds on that tree. */
function faultOf(required: readonly Check[], last: Round | undefined, here: readonly Round[]): string | null {
  if (last === undefined) return 'no check was run after the agent';
  if (last.status !== 'passed')
    return `${last.reason ?? 'the checks did not pass'}${last.cleanRoom ? ' (clean room)' : ''}`;
  if (!last.cleanRoom) return 'the final round in the clean room did not run';
  if (!here.includes(last)) return 'the tree changed after the final round';
  const open = required.find((check) => !last.runs.some((run) => run.name === check.name && hasPassed(run)));
  return open === undefined ? null : `check ${open.name} has no green result in the clean room`;
}

function requireFault(verify: VerifyPolicy, evidence: Verdict['evidence']): string | null {
  if (verify.require === 'fixed' && evidence !== 'fixed')
    return 'verify.require is `fixed`, but no required check went from red to green';
  if (verify.require === 'kept' && evidence === 'none')
    return 'verify.require is `kept`, but not every required check was green before and after, and none was fixed';
  return null;
}

function viewOf(
  check: Check,
  baseline: Baseline | null,
  rounds: readonly Round[],
): { seen: Seen; result: CheckResult } {
  const before = baseline?.runs.find((run) => run.name === check.name) ?? null;
  const after = lastRun(check, rounds);
  const seen: Seen = {
    required: check.required,
    before: colourOf(before),
    after: colourOf(after),
    flaky: after?.flaky === true || (before?.flaky === true && colourOf(after) === 'passed'),
  };
  const told = after ?? before;
  const result: CheckResult = {
    name: check.name,
    command: check.run,
    required: check.required,
    baseline: statusOf(before),
    final: statusOf(after),
    classification: classify(seen),
    exit_code: told?.exitCode ?? null,
    duration_ms: told?.durationMs ?? 0,
    output_sha256: told?.output?.sha256 ?? null,
    output_tail: told?.output?.tail ?? '',
    tests: told?.tests ?? null,
    reason: told?.reason ?? null,
  };
  return { seen, result };
}

function lastRun(check: Check, rounds: readonly Round[]): CheckRun | null {
  for (const round of rounds.toReversed()) {
    const run = round.runs.find((one) => one.name === check.name);
    if (run !== undefined) return run;
  }
  return null;
}

function colourOf(run: CheckRun | null): Seen['before'] {
  const status = statusOf(run);
  return status === null || status === 'skipped' ? null : status === 'passed' ? 'passed' : 'failed';
}

/** A run that was cut off before it could say anything is `skipped`. */
function statusOf(run: CheckRun | null): CheckStatus | null {
  if (run === null) return null;
  return run.status === 'cancelled' || run.status === 'blocked' ? 'skipped' : run.status;
}
