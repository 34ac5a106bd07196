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
  readonly outcome: 'sandbox_unavailable' | 'busy' | 'setup_failed' | 'not_reproduced' | 'model_failed';

  constructor(outcome: RunBlockedError['outcome'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
  }
}
