import type { JobRecord, RunSummary, Usage } from '../../src/events/index.ts';
import { exitCodeOf, NO_USAGE, type Outcome, Result } from '../../src/events/index.ts';

const LIMITS = { turns: 2, attempts: 1, wall_time_ms: 0, tokens: 0, cost_usd: 0, tool_calls: 3 };

export interface Facts {
  outcome?: Outcome;
  tokens?: number;
  costUsd?: number | null;
  startedAt?: string;
  checks?: Partial<Result['checks'][number]>[];
  lines?: number;
  errorCode?: string;
}

/** A result with everything that the schema asks for. */
export function resultOf({ outcome = 'verified', tokens = 0, costUsd = 0, ...facts }: Facts = {}): Result {
  const code = facts.errorCode;
  return Result.parse({
    schema: 'belay.result/v1',
    outcome,
    exit_code: exitCodeOf(outcome, { checksDeclaredEmpty: false }),
    verified: outcome === 'verified',
    evidence: 'none',
    ended_by: null,
    reason: `it ended as ${outcome}`,
    message: '',
    question: null,
    risks: [],
    review: [],
    goal: null,
    thread_id: 't_1',
    run_id: 'r_1',
    changes: {
      files:
        facts.lines === undefined ? [] : [{ path: 'a', kind: 'update', added: facts.lines, removed: 0, binary: false }],
      patch: null,
      patch_sha256: null,
      base_commit: null,
      base_dirty: false,
      tree: null,
      tests: [],
      dependencies: [],
      restored: false,
    },
    checks: (facts.checks ?? []).map((check) => ({
      name: 'c',
      command: 'c',
      required: true,
      baseline: null,
      final: null,
      classification: null,
      exit_code: null,
      duration_ms: 0,
      output_sha256: null,
      output_tail: '',
      tests: null,
      reason: null,
      ...check,
    })),
    usage: usageOf(tokens),
    cost_usd: costUsd,
    limits: Object.fromEntries(Object.entries(LIMITS).map(([name, used]) => [name, { used, max: null }])),
    denials: [],
    policy: null,
    sandbox: null,
    model: null,
    started_at: facts.startedAt ?? '2026-01-01T00:00:00.000Z',
    duration_ms: 1000,
    ...(code === undefined ? {} : { error: { code, message: code, retryable: false } }),
  });
}

export function usageOf(tokens: number): Usage {
  return { ...NO_USAGE, input_tokens: tokens };
}

export function runOf(facts: { tokens: number; costUsd: number | null }): RunSummary {
  return {
    run_id: 'r',
    thread_id: 't',
    outcome: 'verified',
    reason: '',
    patch: null,
    patch_sha256: null,
    changed_files: 0,
    changed_lines: 0,
    usage: usageOf(facts.tokens),
    cost_usd: facts.costUsd,
    duration_ms: 0,
  };
}

export function recordOf(id: string, facts: Facts = {}, more: Partial<JobRecord> = {}): JobRecord {
  return { job_id: id, result: resultOf(facts), ...more };
}
