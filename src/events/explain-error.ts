import { hasCode, RunBlockedError, SinkError, UsageError } from '../errors.ts';
import type { Outcome } from './outcome.ts';
import type { Result } from './result.ts';

/** What an error that ended a command, a run or a batch means for its user. */
export interface Explained {
  outcome: Outcome;
  /** One sentence that a person can act on. */
  reason: string;
  error: NonNullable<Result['error']>;
}

/** The one table of errors and outcomes. Anything unknown is a bug in belay, and said to be one. */
export function explainError(error: unknown): Explained {
  const message = error instanceof Error ? error.message : String(error);
  const explain = (outcome: Outcome, code: string, about = ''): Explained => ({
    outcome,
    reason: about + message,
    error: { code, message, retryable: outcome === 'busy' },
  });
  if (error instanceof UsageError)
    return explain(error.code === 'git_failed' ? 'internal_error' : 'usage_error', error.code);
  if (error instanceof RunBlockedError) return explain(error.outcome, error.outcome);
  if (error instanceof SinkError) return explain('internal_error', 'output_unwritable');
  // No bugs, and nothing that belay could go on without.
  if (hasCode(error, 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG'))
    return explain('internal_error', 'state_unwritable', 'belay could not write its files: ');
  if (hasCode(error, 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'))
    return explain('internal_error', 'system_limit', 'the system gives belay no more files, processes or memory: ');
  if (isSystemError(error)) return explain('internal_error', 'system_error', 'belay could not use its files: ');
  return explain('internal_error', 'internal_error', 'a bug in belay: ');
}

/** The kernel refused a call of Node's (libuv's number is there); Node's own codes (`ERR_…`) tell of bugs. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' && 'syscall' in error;
}
