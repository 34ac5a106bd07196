import type { Event } from '../events/index.ts';

/** Something that a re-run has to do as the recorded run did. */
export type Step =
  | { kind: 'request'; turn: number; sha256: string }
  | { kind: 'command'; turn: number; command: string; status: string; exit_code: number | null; output: string }
  | { kind: 'check'; name: string; phase: string; passed: boolean | null; exit_code: number | null }
  | { kind: 'outcome'; outcome: string; reason: string };

/** The first step that differs; null on the side that has none. */
export interface Drift {
  recorded: Step | null;
  now: Step | null;
}

/**
 * Compares two streams of events step by step: a command's result comes before the request that it goes into. `isPart`: the recorded run
 * did not come to its end, and what follows on its last step is no drift.
 */
export function findDrift(recorded: Iterable<Event>, now: Iterable<Event>, isPart = false): Drift | null {
  const left = listSteps(recorded);
  // Streams of the first version say nothing of requests.
  const tells = left.some((step) => step.kind === 'request');
  const right = listSteps(now).filter((step) => tells || step.kind !== 'request');
  const count = isPart ? left.length : Math.max(left.length, right.length);
  for (let i = 0; i < count; i++) {
    const [a, b] = [left[i] ?? null, right[i] ?? null];
    if (a === null || b === null || !isSame(a, b)) return { recorded: a, now: b };
  }
  return null;
}

function isSame(a: Step, b: Step): boolean {
  // The reason of an outcome may name times and paths.
  if (a.kind === 'outcome' && b.kind === 'outcome') return a.outcome === b.outcome;
  return JSON.stringify(a) === JSON.stringify(b);
}

function listSteps(events: Iterable<Event>): Step[] {
  const steps: Step[] = [];
  /** Where each turn and each round of checks begins: what a killed run left is told again by the one that goes on. */
  const starts = new Map<string, number>();
  const beginAgain = (what: string) => {
    const before = starts.get(what);
    if (before !== undefined) steps.length = Math.min(steps.length, before);
    starts.set(what, steps.length);
  };
  let runs = 0;
  let outcome: Step | null = null;
  for (const event of events) {
    switch (event.type) {
      case 'run.started':
        runs += 1;
        break;
      case 'turn.started':
        // Without a request, the rest of an answer is told: what was told of it before stands.
        if (event.request_sha256 === undefined && starts.has(`turn ${event.turn}`)) break;
        beginAgain(`turn ${event.turn}`);
        if (event.request_sha256 !== undefined)
          steps.push({ kind: 'request', turn: event.turn, sha256: event.request_sha256 });
        break;
      case 'verification.started':
        beginAgain(`round ${event.attempt} ${event.clean_room}`);
        break;
      case 'item.completed':
        // A replay has one run, and one baseline.
        if (runs <= 1 || event.phase !== 'baseline') steps.push(...stepOf(event));
        break;
      case 'run.completed':
        outcome = { kind: 'outcome', outcome: event.result.outcome, reason: event.result.reason };
        break;
      default:
        break;
    }
  }
  // Of the last run: an earlier one of the thread was interrupted, and a replay is not.
  return outcome === null ? steps : [...steps, outcome];
}

function stepOf({ item, turn, phase }: Extract<Event, { type: 'item.completed' }>): Step[] {
  if (item.type === 'command_execution' && phase === 'agent' && turn !== null) {
    const { command, status, exit_code, aggregated_output: output } = item;
    return [{ kind: 'command', turn, command, status, exit_code, output }];
  }
  if (item.type === 'check') {
    const { name, passed, exit_code } = item;
    return [{ kind: 'check', name, phase, passed, exit_code }];
  }
  return [];
}
