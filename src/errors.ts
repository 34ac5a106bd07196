/** Errors that may cross rooms. Failures of the work itself are data (see `Outcome`); these are bad usage and bugs. */

/** Where a text is wrong: 1-based line and column, as editors count. */
export interface SourcePosition {
  file: string;
  line: number;
  column: number;
}

/** Bad option, unreadable or invalid policy, goal or schema: exit 2. The message says what, where and what to do next. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: string;
  readonly position: SourcePosition | undefined;

  constructor(message: string, options: { code?: string; position?: SourcePosition; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code ?? 'usage';
    this.position = options.position;
  }
}

/** A precondition outside the work that ends the run with an outcome of its own (sandbox, lock, setup). */
export class RunBlockedError extends Error {
  override readonly name = 'RunBlockedError';
  readonly outcome:
    | 'sandbox_unavailable'
    | 'busy'
    | 'setup_failed'
    | 'not_reproduced'
    | 'model_failed'
    | 'policy_violation';

  constructor(outcome: RunBlockedError['outcome'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
  }
}

/** Code of a system's or a library's error (`ENOENT`); null for an error without one, which is a bug and wants to be rethrown. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Whether a caught value is an error with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error);
  return code !== null && codes.includes(code);
}

/** Why a sink takes nothing more: its reader went away, there is no room, or something else broke. */
export type SinkFailure = 'closed' | 'full' | 'failed';

const REASONS: Readonly<Record<string, SinkFailure>> = {
  EPIPE: 'closed',
  ECONNRESET: 'closed',
  ERR_STREAM_DESTROYED: 'closed',
  ERR_STREAM_WRITE_AFTER_END: 'closed',
  ERR_STREAM_PREMATURE_CLOSE: 'closed',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
};

/** What a sink's `write` or `close` rejects with. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
  readonly reason: SinkFailure;
  /** What the sink writes to, in words: `stdout`, a path. */
  readonly target: string;

  constructor(target: string, cause: unknown) {
    const code = codeOf(cause);
    super(`cannot write to ${target}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.reason = (code === null ? undefined : REASONS[code]) ?? 'failed';
    this.target = target;
  }
}
