import type { ChildProcess } from 'node:child_process';

/** The longest that a call may take. A first look at a tree of many gigabytes takes minutes. */
const LONGEST_MS = 30 * 60_000;
/** For a call that the run's end finds under way. What it would tell is needed no more. */
const UNDER_WAY_MS = 2000;
/** For a call that begins when the run is to end: it puts the workspace back. */
const LAST_MS = 2 * 60_000;
/** From the signal at which git takes its lock files along to the one that it cannot miss. */
const KILL_MS = 1000;

export interface BoundCall {
  /** Whether it was ended. */
  isEnded(): boolean;
  /** When git has ended. */
  forget(): void;
}

/** Ends a git process that takes too long: a file system that hangs, or a file of a kind that nobody thought of, must not hold the run. */
export const boundCall = (child: ChildProcess, stop: AbortSignal | undefined): BoundCall => {
  let isEnded = false;
  const end = (): void => {
    isEnded = true;
    // Without an id it was not started, and a signal would go to belay's own process group.
    if (child.pid === undefined) return;
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS);
  };
  let timer = setTimeout(end, stop?.aborted ? LAST_MS : LONGEST_MS);
  const hurry = (): void => {
    if (isEnded) return;
    clearTimeout(timer);
    timer = setTimeout(end, UNDER_WAY_MS);
  };
  if (!stop?.aborted) stop?.addEventListener('abort', hurry);
  return {
    isEnded: () => isEnded,
    forget: () => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', hurry);
    },
  };
};
