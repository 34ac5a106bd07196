import * as z from 'zod';
import { FileChange, Item, Phase } from './item.ts';
import { LimitName, Result } from './result.ts';
import { Usage } from './usage.ts';

const Count = z.int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What belay adds to every event. */
const envelope = {
  v: z.literal(1),
  seq: Count,
  time: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  run_id: z.string(),
  /** The job of a batch that the run belongs to. */
  job_id: z.string().optional(),
  /** Hex sha-256 of the previous line without its newline; 64 zeros first. */
  prev: Sha256,
  /** Set when something was cut to keep the line under 1 MiB: JSON pointer, and characters of a string or entries of an array left out. */
  cut: z.array(z.strictObject({ path: z.string(), omitted: Count })).optional(),
};

const turn = { turn: Count, attempt: Count };
const inItem = { item: Item, turn: Count.nullable(), phase: Phase };
const CheckOutcome = z.strictObject({
  name: z.string(),
  required: z.boolean(),
  passed: z.boolean(),
  exit_code: z.int().nullable(),
  flaky: z.boolean(),
});

const bodies = {
  'run.started': z.strictObject({
    ...envelope,
    type: z.literal('run.started'),
    belay_version: z.string(),
    /** Of all that the program was built from (docs/reports.md); absent where it runs from its sources. */
    belay_sources_sha256: Sha256.exactOptional(),
    goal: z.strictObject({ text: z.string(), sha256: Sha256 }).nullable(),
    policy: z.strictObject({ source: z.string(), sha256: Sha256, floor_sha256: Sha256.optional() }).nullable(),
    model: z.strictObject({ provider: z.string(), name: z.string() }).nullable(),
    sandbox: z.strictObject({ tier: z.string(), reason: z.string(), network: z.string() }).nullable(),
    workspace: z
      .strictObject({
        root: z.string(),
        base_commit: z.string().nullable(),
        /** null: reading the files took longer than this event may wait. */
        dirty: z.boolean().nullable(),
        git: z.boolean(),
      })
      .nullable(),
    limits: z.record(z.string(), z.number()).nullable(),
    /** AGENTS.md files that the agent is given; `used_bytes` is less where one was cut, 0 where it was left out. */
    instructions: z.array(z.strictObject({ path: z.string(), bytes: Count, used_bytes: Count })).exactOptional(),
    thread_id: z.string(),
    resumed_from: z.string().optional(),
  }),
  'thread.started': z.strictObject({ ...envelope, type: z.literal('thread.started'), thread_id: z.string() }),
  'turn.started': z.strictObject({
    ...envelope,
    ...turn,
    type: z.literal('turn.started'),
    /** Hex sha-256 of the request in belay's own form: what `belay replay` compares. */
    request_sha256: Sha256.optional(),
    /** A request beside the conversation, which counts as a turn like any other. */
    purpose: z.literal('summary').optional(),
  }),
  'turn.completed': z.strictObject({
    ...envelope,
    ...turn,
    type: z.literal('turn.completed'),
    usage: Usage,
    total_usage: Usage,
    cost_usd: z.number().min(0).nullable(),
    duration_ms: Count,
    snapshot: z.string().nullable(),
    changes: z.array(FileChange),
    /** Why the answer ended, where it is not for its calls or because all was said. */
    finish: z.enum(['length', 'refusal', 'content_filter', 'other']).optional(),
  }),
  'turn.failed': z.strictObject({
    ...envelope,
    ...turn,
    type: z.literal('turn.failed'),
    usage: Usage,
    total_usage: Usage,
    duration_ms: Count,
    error: z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }),
  }),
  'item.started': z.strictObject({ ...envelope, ...inItem, type: z.literal('item.started') }),
  'item.updated': z.strictObject({ ...envelope, ...inItem, type: z.literal('item.updated') }),
  'item.completed': z.strictObject({ ...envelope, ...inItem, type: z.literal('item.completed') }),
  'verification.started': z.strictObject({
    ...envelope,
    type: z.literal('verification.started'),
    attempt: Count,
    clean_room: z.boolean(),
  }),
  'verification.completed': z.strictObject({
    ...envelope,
    type: z.literal('verification.completed'),
    attempt: Count,
    clean_room: z.boolean(),
    passed: z.boolean(),
    checks: z.array(CheckOutcome),
  }),
  'model.retried': z.strictObject({
    ...envelope,
    type: z.literal('model.retried'),
    attempt: Count,
    delay_ms: Count,
    http_status: z.int().optional(),
    reason: z.string(),
  }),
  'context.compacted': z.strictObject({
    ...envelope,
    type: z.literal('context.compacted'),
    kind: z.enum(['elide', 'summarize']),
    before_tokens: Count,
    after_tokens: Count,
    kept: z.array(z.string()),
    /** `summarize`: what stands for the messages that were left out. */
    summary: z.string().optional(),
    summary_by: z.enum(['model', 'belay']).optional(),
  }),
  'limit.warned': z.strictObject({
    ...envelope,
    type: z.literal('limit.warned'),
    limit: LimitName,
    used: z.number(),
    max: z.number(),
  }),
  'approval.requested': z.strictObject({
    ...envelope,
    type: z.literal('approval.requested'),
    approval_id: z.string(),
    action: z.string(),
    rule: z.string(),
  }),
  'approval.resolved': z.strictObject({
    ...envelope,
    type: z.literal('approval.resolved'),
    approval_id: z.string(),
    action: z.string(),
    rule: z.string(),
    decision: z.enum(['approved', 'denied']),
  }),
  'network.allowed': z.strictObject({
    ...envelope,
    type: z.literal('network.allowed'),
    turn: Count.nullable(),
    phase: Phase,
    /** Never more than these of a request: no path, no header. */
    host: z.string(),
    port: Count.nullable(),
    /** The entry of `network.allow` that lets it through. */
    rule: z.string(),
  }),
  'workspace.restored': z.strictObject({
    ...envelope,
    type: z.literal('workspace.restored'),
    to: z.union([z.literal('base'), z.int()]),
    files: Count,
  }),
  error: z.strictObject({ ...envelope, type: z.literal('error'), code: z.string(), message: z.string() }),
  'run.completed': z.strictObject({ ...envelope, type: z.literal('run.completed'), result: Result }),
} as const;

/** One line of the stream (contract, section 2). */
export const Event = z.discriminatedUnion('type', [
  bodies['run.started'],
  bodies['thread.started'],
  bodies['turn.started'],
  bodies['turn.completed'],
  bodies['turn.failed'],
  bodies['item.started'],
  bodies['item.updated'],
  bodies['item.completed'],
  bodies['verification.started'],
  bodies['verification.completed'],
  bodies['model.retried'],
  bodies['context.compacted'],
  bodies['limit.warned'],
  bodies['approval.requested'],
  bodies['approval.resolved'],
  bodies['network.allowed'],
  bodies['workspace.restored'],
  bodies.error,
  bodies['run.completed'],
]);
export type Event = z.infer<typeof Event>;
export type EventType = Event['type'];

type Envelope = 'v' | 'seq' | 'time' | 'run_id' | 'job_id' | 'prev' | 'cut';
type Body<E> = E extends { type: string } ? Omit<E, Envelope> : never;
/** An event before its envelope: what rooms emit. */
export type EventBody = Body<Event>;

/** Tells the run what happened. Resolves when every sink has room again (back-pressure); never rejects. */
export type Emit = (body: EventBody) => Promise<void>;

/** Where events go: a stream, a file, a terminal. `line` ends with a newline and is at most 1 MiB. */
export interface EventSink {
  /** Resolves when the sink is ready for more. Rejects when the sink is gone for good (a closed pipe, a full disk). */
  write(line: string, event: Event): Promise<void>;
  /** Flushes; no write follows. */
  close(): Promise<void>;
}
