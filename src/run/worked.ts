import { type Denial, NO_USAGE, type Usage } from '../events/index.ts';
import type { ThreadPast } from '../thread/index.ts';
import type { Conclusion } from './conclusion.ts';

/** What the work came to, for the result: of the whole thread, not of its last run alone. */
export interface Worked {
  conclusion: Conclusion;
  denials: readonly Denial[];
  usage: Usage;
  /** null when an answer's price is unknown. */
  costUsd: number | null;
  turns: number;
  attempts: number;
  toolCalls: number;
}

/** Of a run that did nothing itself. */
export function idle(past: ThreadPast | null): Omit<Worked, 'conclusion'> {
  if (past === null) return { denials: [], usage: NO_USAGE, costUsd: 0, turns: 0, attempts: 0, toolCalls: 0 };
  const { denials, usage, costUsd, turns, rounds, toolCalls } = past;
  return { denials, usage, costUsd, turns, attempts: rounds, toolCalls };
}
