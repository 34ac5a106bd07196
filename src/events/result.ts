import * as z from 'zod';
import { FileChange } from './item.ts';
import { Outcome } from './outcome.ts';
import { Usage } from './usage.ts';

const Count = z.int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const Used = z.strictObject({ used: z.number().min(0), max: z.number().min(0).nullable() });

export const LimitName = z.enum(['turns', 'attempts', 'wall_time_ms', 'tokens', 'cost_usd', 'tool_calls']);
export type LimitName = z.infer<typeof LimitName>;

export const ChangedFile = FileChange.extend({ added: Count, removed: Count, binary: z.boolean() });
export type ChangedFile = z.infer<typeof ChangedFile>;

/** A dependency that the change adds, removes or moves to another version. Versions are null where there is none. */
export const DependencyChange = z.strictObject({
  path: z.string(),
  name: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
});
export type DependencyChange = z.infer<typeof DependencyChange>;

export const Changes = z.strictObject({
  files: z.array(ChangedFile),
  /** Where the patch was written, or null. */
  patch: z.string().nullable(),
  patch_sha256: Sha256.nullable(),
  base_commit: z.string().nullable(),
  /** The run began on more than that commit: the patch is against the start snapshot. */
  base_dirty: z.boolean(),
  /** Git tree id of the final tree (what was checked and what is left). */
  tree: z.string().nullable(),
  tests: z.array(z.string()),
  dependencies: z.array(DependencyChange),
  restored: z.boolean(),
});
export type Changes = z.infer<typeof Changes>;

export const CheckStatus = z.enum(['passed', 'failed', 'timed_out', 'skipped']);
export type CheckStatus = z.infer<typeof CheckStatus>;
export const Classification = z.enum(['fixed', 'passing', 'regressed', 'still_failing', 'pre_existing', 'flaky']);
export type Classification = z.infer<typeof Classification>;

export const CheckResult = z.strictObject({
  name: z.string(),
  command: z.string(),
  required: z.boolean(),
  /** null: not run in that phase. */
  baseline: CheckStatus.nullable(),
  final: CheckStatus.nullable(),
  /** null: never run at the end. */
  classification: Classification.nullable(),
  exit_code: z.int().nullable(),
  duration_ms: Count,
  output_sha256: Sha256.nullable(),
  /** The last 4 KiB of output; empty for a round with a holdout. */
  output_tail: z.string(),
  /** Tests counted in the output, where `expect` asks for it. */
  tests: Count.nullable(),
  reason: z.string().nullable(),
});
export type CheckResult = z.infer<typeof CheckResult>;

export const Denial = z.strictObject({ action: z.string(), rule: z.string(), reason: z.string() });
export type Denial = z.infer<typeof Denial>;

/** `belay.result/v1`: what `run.completed` carries and `--result` writes. */
export const Result = z.strictObject({
  schema: z.literal('belay.result/v1'),
  outcome: Outcome,
  exit_code: Count,
  verified: z.boolean(),
  evidence: z.enum(['fixed', 'kept', 'none']),
  /** `finish`, the limit that ended the loop, or null when the loop did not start. */
  ended_by: z.string().nullable(),
  reason: z.string(),
  message: z.string(),
  output: z.unknown().optional(),
  question: z.string().nullable(),
  risks: z.array(z.string()),
  review: z.array(z.strictObject({ label: z.string(), paths: z.array(z.string()) })),
  goal: z.strictObject({ text: z.string(), sha256: Sha256 }).nullable(),
  thread_id: z.string(),
  run_id: z.string(),
  changes: Changes,
  checks: z.array(CheckResult),
  usage: Usage,
  cost_usd: z.number().min(0).nullable(),
  limits: z.record(LimitName, Used),
  denials: z.array(Denial),
  policy: z.strictObject({ source: z.string(), sha256: Sha256, floor_sha256: Sha256.optional() }).nullable(),
  sandbox: z
    .strictObject({ tier: z.string(), network: z.string(), uid: z.int().nullable(), reason: z.string().optional() })
    .nullable(),
  model: z.strictObject({ provider: z.string(), name: z.string() }).nullable(),
  started_at: z.string(),
  duration_ms: Count,
  error: z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
});
export type Result = z.infer<typeof Result>;
