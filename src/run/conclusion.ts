import type { SinkError } from '../errors.ts';
import {
  type CheckResult,
  explainError,
  type Interruption,
  type Outcome,
  type Result,
  renderSeconds,
} from '../events/index.ts';

/** How the work ended, before the workspace is settled and the result is folded. */
export interface Conclusion {
  outcome: Outcome;
  /** One sentence that a person can act on. */
  reason: string;
  /** `finish`, the limit that ended the loop, or null when the loop did not start. */
  endedBy: string | null;
  message: string;
  question: string | null;
  risks: readonly string[];
  output: unknown;
  evidence: Result['evidence'];
  checks: readonly CheckResult[];
  /** The tree that was judged; null where none was. */
  tree: string | null;
  error: Result['error'];
  interruption: Interruption | null;
}

const PLAIN: Omit<Conclusion, 'outcome' | 'reason'> = {
  endedBy: null,
  message: '',
  question: null,
  risks: [],
  output: undefined,
  evidence: 'none',
  checks: [],
  tree: null,
  error: undefined,
  interruption: null,
};

export function conclude(outcome: Outcome, reason: string, more: Partial<Conclusion> = {}): Conclusion {
  return { ...PLAIN, ...more, outcome, reason };
}

export function concludeError(error: unknown): Conclusion {
  const { outcome, reason, error: about } = explainError(error);
  return conclude(outcome, reason, { error: about });
}

/** stdout is what the run was started for: without it, it goes no further. */
export function concludeOutputLoss({ message, reason }: SinkError): Conclusion {
  const advice = reason === 'full' ? 'make room, or send it elsewhere' : 'send it elsewhere';
  return conclude('internal_error', `${message}: ${advice}`, {
    error: { code: 'stdout_unwritable', message, retryable: false },
  });
}

export function concludeInterruption(interruption: Interruption): Conclusion {
  const reason = interruption === 'SIGPIPE' ? 'the reader of stdout went away' : `${interruption} ended the run`;
  return conclude('interrupted', reason, { interruption });
}

/** A limit as the loop hit it. */
interface LimitHit {
  limit: string;
  used: number;
  max: number;
}

export function limitReason(end: LimitHit): string {
  const used =
    end.limit === 'wall_time' ? `${renderSeconds(end.used)} of ${renderSeconds(end.max)}` : `${end.used} of ${end.max}`;
  return `the limit ${end.limit} is reached: ${used} used`;
}

export function concludeLimit(end: LimitHit): Conclusion {
  return conclude('limit_reached', limitReason(end), { endedBy: end.limit });
}
