import type { EventBody } from '../events/index.ts';
import type { TreeId } from '../workspace/index.ts';
import { type CheckRun, endsRound, hasPassed } from './check-run.ts';
import type { CheckPorts, ServicesStart } from './place.ts';

/** One round of checks on one tree. */
export interface Round {
  cleanRoom: boolean;
  /** The tree that was judged. */
  tree: TreeId;
  /** In the order of the policy; one for each check that was run. */
  runs: readonly CheckRun[];
  /**
   * `passed`: every required check of this round; `failed`; `cancelled`: by the signal; `blocked`: the sandbox gave way;
   * `wall_time`: the run's time was over.
   */
  status: 'passed' | 'failed' | 'cancelled' | 'blocked' | 'wall_time';
  /** One sentence, for every status but `passed`. */
  reason: string | null;
}

export function statusOf(runs: readonly CheckRun[]): Pick<Round, 'status' | 'reason'> {
  const last = runs.find(endsRound);
  if (last !== undefined) {
    const status = last.wallTimeOver ? 'wall_time' : last.status === 'cancelled' ? 'cancelled' : 'blocked';
    return { status, reason: `check ${last.name} ${last.reason ?? last.status}` };
  }
  const red = runs.filter((run) => run.required && !hasPassed(run));
  const first = red[0];
  if (first === undefined) return { status: 'passed', reason: null };
  const others =
    red.length === 1 ? '' : `, and ${red.length - 1} more required ${red.length === 2 ? 'check' : 'checks'}`;
  return { status: 'failed', reason: `check ${first.name} ${first.reason ?? 'failed'}${others}` };
}

/** A round whose services did not come up: after the change, that is the change's fault. */
export function withoutServices(start: Exclude<ServicesStart, { kind: 'up' }>): Pick<Round, 'status' | 'reason'> {
  return start.kind === 'cancelled'
    ? { status: 'cancelled', reason: 'the services were cancelled' }
    : { status: 'failed', reason: start.reason };
}

/** Tells of a round: `verification.started`, the work, `verification.completed` on every path but a bug's. */
export async function tellRound(
  about: { attempt: number; cleanRoom: boolean; emit: CheckPorts['emit'] },
  work: () => Promise<Round>,
): Promise<Round> {
  await about.emit({ type: 'verification.started', attempt: about.attempt, clean_room: about.cleanRoom });
  const round = await work();
  await about.emit(completed(about.attempt, round));
  return round;
}

function completed(attempt: number, round: Round): EventBody {
  return {
    type: 'verification.completed',
    attempt,
    clean_room: round.cleanRoom,
    passed: round.status === 'passed',
    checks: round.runs.map((run) => ({
      name: run.name,
      required: run.required,
      passed: hasPassed(run),
      exit_code: run.exitCode,
      flaky: run.flaky,
    })),
  };
}
