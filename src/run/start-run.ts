import type { Interruption, Result } from '../events/index.ts';
import { execute } from './execute.ts';
import type { RunRequest, RunSinks } from './request.ts';
import { createSession } from './session.ts';

/** A run under way: it yields events to its sinks and takes interruptions and messages between turns. */
export interface RunHandle {
  /** Never rejects: every path ends in a result, which is also the last event. */
  readonly result: Promise<Result>;
  /** Outputs that could not be written, where the last event was out already: one sentence each, for stderr. */
  problems(): readonly string[];
  interrupt(why: Interruption): void;
  /**
   * A message for the agent, put in before the next answer that it is asked for, where there is one. Returns false, and nothing comes of
   * it, where the agent's work is over.
   */
  steer(text: string): boolean;
}

export function startRun(request: RunRequest, sinks: RunSinks): RunHandle {
  const { session, interrupt } = createSession(sinks, request.jobId);
  const steering: string[] = [];
  let isOver = false;
  return {
    result: execute({
      request,
      session,
      // The agent's rooms are read while the sandbox is tried out and the files are.
      prefetch: () => import('./work.ts'),
      async work(prepared) {
        const { work } = await import('./work.ts');
        return work(prepared, () => steering.splice(0)).finally(() => {
          isOver = true;
        });
      },
    }).finally(() => {
      isOver = true;
    }),
    problems: session.problems,
    interrupt,
    steer(text) {
      if (!isOver) steering.push(text);
      return !isOver;
    },
  };
}
