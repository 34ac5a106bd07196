import type { BoundedText } from '../context/index.ts';

/** How one run of a check ended. */
export interface CheckRun {
  name: string;
  command: string;
  required: boolean;
  /**
   * `cancelled`: by the signal; `blocked`: the fence could not be set up, so the check says nothing about the tree
   * and the run has to end.
   */
  status: 'passed' | 'failed' | 'timed_out' | 'cancelled' | 'blocked';
  exitCode: number | null;
  durationMs: number;
  /** null for a check whose output goes to nobody (a round with a holdout). */
  output: CheckOutput | null;
  /** Tests that ran; null where `expect` does not ask, or the output does not tell. */
  tests: number | null;
  /** Half a sentence that goes on after the check's name; null for `passed`. */
  reason: string | null;
  /** Whether it once failed and then passed on the same tree; in the clean room, where it has to pass once more, it may be red for all that. */
  flaky: boolean;
  /** Whether the wall time of the run cut it, not the check's own. */
  wallTimeOver: boolean;
}

export interface CheckOutput extends BoundedText {
  /** Hex, of the whole output. */
  sha256: string;
  /** The last 4 KiB. */
  tail: string;
}

export function hasPassed(run: CheckRun): boolean {
  return run.status === 'passed';
}

/** Whether nothing more can be run after this. */
export function endsRound(run: CheckRun): boolean {
  return run.status === 'cancelled' || run.status === 'blocked' || run.wallTimeOver;
}
