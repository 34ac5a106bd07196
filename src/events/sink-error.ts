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
    this.reason = (code === undefined ? undefined : REASONS[code]) ?? 'failed';
    this.target = target;
  }
}

/** The system's code of an error (`ENOENT`), if it has one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
