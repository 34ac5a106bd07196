import { createHash } from 'node:crypto';
import {
  type Changes,
  type Denial,
  exitCodeOf,
  type LimitName,
  NO_USAGE,
  type Result,
  type Usage,
} from '../events/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';
import type { SandboxStatus } from '../sandbox/index.ts';
import type { Conclusion } from './conclusion.ts';

/** Everything that is known when the run ends; null for what a failure kept from being known. */
export interface ResultFacts {
  conclusion: Conclusion;
  goal: string | null;
  policy: LoadedPolicy | null;
  sandbox: SandboxStatus | null;
  model: { provider: string; name: string } | null;
  threadId: string;
  runId: string;
  changes: Changes;
  review: Result['review'];
  denials: readonly Denial[];
  usage: Usage;
  costUsd: number | null;
  used: { turns: number; attempts: number; toolCalls: number };
  startedAt: Date;
  durationMs: number;
  /** Of earlier runs of the thread. */
  earlierMs: number;
}

export const NO_CHANGES: Changes = {
  files: [],
  patch: null,
  patch_sha256: null,
  base_commit: null,
  base_dirty: false,
  tree: null,
  tests: [],
  dependencies: [],
  restored: false,
};

export function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

export function policyFacts(policy: LoadedPolicy): NonNullable<Result['policy']> {
  return {
    source: policy.source,
    sha256: policy.sha256,
    ...(policy.floorSha256 === null ? {} : { floor_sha256: policy.floorSha256 }),
  };
}

export function foldResult(facts: ResultFacts): Result {
  const { conclusion, policy, usage } = facts;
  const limits = policy?.policy.limits ?? null;
  const used = (value: number, max: number | null | undefined) => ({ used: value, max: max ?? null });
  const all: Record<LimitName, { used: number; max: number | null }> = {
    turns: used(facts.used.turns, limits?.turns),
    attempts: used(facts.used.attempts, limits?.attempts),
    wall_time_ms: used(Math.round(facts.earlierMs + facts.durationMs), limits?.wallTimeMs),
    tokens: used(usage.input_tokens + usage.output_tokens, limits?.tokens),
    cost_usd: used(facts.costUsd ?? 0, limits?.costUsd),
    tool_calls: used(facts.used.toolCalls, limits?.toolCalls),
  };
  const { interruption } = conclusion;
  return {
    schema: 'belay.result/v1',
    outcome: conclusion.outcome,
    exit_code: exitCodeOf(conclusion.outcome, {
      checksDeclaredEmpty: policy?.policy.verify.checksDeclaredEmpty ?? false,
      ...(interruption === null ? {} : { interruption }),
    }),
    verified: conclusion.outcome === 'verified',
    evidence: conclusion.evidence,
    ended_by: conclusion.endedBy,
    reason: conclusion.reason,
    message: conclusion.message,
    ...(conclusion.output === undefined ? {} : { output: conclusion.output }),
    question: conclusion.question,
    risks: [...conclusion.risks],
    review: facts.review,
    goal: facts.goal === null ? null : { text: facts.goal, sha256: sha256(facts.goal) },
    thread_id: facts.threadId,
    run_id: facts.runId,
    changes: facts.changes,
    checks: [...conclusion.checks],
    usage: usage ?? NO_USAGE,
    cost_usd: facts.costUsd,
    limits: all,
    denials: [...facts.denials],
    policy: policy === null ? null : policyFacts(policy),
    sandbox:
      facts.sandbox === null
        ? null
        : {
            tier: facts.sandbox.tier,
            network: facts.sandbox.network,
            uid: facts.sandbox.uid,
            reason: facts.sandbox.reason,
          },
    model: facts.model,
    started_at: facts.startedAt.toISOString(),
    duration_ms: Math.round(facts.durationMs),
    ...(conclusion.error === undefined ? {} : { error: conclusion.error }),
  };
}
