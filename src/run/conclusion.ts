import { hasCode, RunBlockedError, type SinkError, UsageError } from '../errors.ts';
import { type CheckResult, type Interruption, type Outcome, type Result, renderSeconds } from '../events/index.ts';

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

/** What an error that ended the run means for its user. Anything unknown is a bug in belay, and said to be one. */
export function concludeError(error: unknown): Conclusion {
  if (error instanceof UsageError && error.code !== 'git_failed') {
    return conclude('usage_error', error.message, {
      error: { code: error.code, message: error.message, retryable: false },
    });
  }
  if (error instanceof RunBlockedError) {
    return conclude(error.outcome, error.message, {
      error: { code: error.outcome, message: error.message, retryable: error.outcome === 'busy' },
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) {
    return conclude('internal_error', message, { error: { code: error.code, message, retryable: false } });
  }
  if (isStorageError(error)) {
    return conclude('internal_error', `belay could not write its files: ${message}`, {
      error: { code: 'state_unwritable', message, retryable: false },
    });
  }
  return conclude('internal_error', `a bug in belay: ${message}`, {
    error: { code: 'internal_error', message, retryable: false },
  });
}

/** A disk that is full, read-only or broken: no bug, and nothing that the run could go on without. */
function isStorageError(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG');
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
