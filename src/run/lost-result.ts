import { NO_USAGE, type Outcome, type Result, type Usage } from '../events/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';
import { conclude } from './conclusion.ts';
import { foldResult, NO_CHANGES } from './result.ts';

/** A run that has no last event of its own: its process is gone, or it was never started. */
export interface LostRun {
  outcome: Outcome;
  reason: string;
  /** `stop_after`, or what else kept it from starting or ended it. */
  endedBy: string;
  goal: string;
  policy: LoadedPolicy;
  baseCommit: string | null;
  /** Of the interruption, where the outcome is one. */
  interruption: 'SIGINT' | 'SIGTERM' | 'SIGPIPE' | null;
  /** What is known of it. */
  runId: string;
  threadId: string;
  usage: Usage | null;
  costUsd: number | null;
  startedAt: Date;
}

/** The result that stands for it: with what is known, and no change. */
export function lostResult(run: LostRun): Result {
  const failed = run.outcome === 'internal_error';
  return foldResult({
    conclusion: conclude(run.outcome, run.reason, {
      endedBy: run.endedBy,
      interruption: run.interruption,
      error: failed ? { code: run.endedBy, message: run.reason, retryable: false } : undefined,
    }),
    goal: run.goal,
    policy: run.policy,
    sandbox: null,
    model: run.policy.policy.model === null ? null : modelOf(run.policy.policy.model),
    threadId: run.threadId,
    runId: run.runId,
    changes: { ...NO_CHANGES, base_commit: run.baseCommit },
    review: [],
    denials: [],
    usage: run.usage ?? NO_USAGE,
    costUsd: run.costUsd,
    used: { turns: 0, attempts: 0, toolCalls: 0 },
    startedAt: run.startedAt,
    durationMs: Date.now() - run.startedAt.getTime(),
    earlierMs: 0,
  });
}

function modelOf({ provider, name }: { provider: string; name: string }): Result['model'] {
  return { provider, name };
}
