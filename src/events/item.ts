import * as z from 'zod';

export const ItemStatus = z.enum(['in_progress', 'completed', 'failed', 'declined', 'cancelled', 'timed_out']);
export type ItemStatus = z.infer<typeof ItemStatus>;

/** Where in the run something happened. */
export const Phase = z.enum(['setup', 'baseline', 'agent', 'verify', 'clean_room']);
export type Phase = z.infer<typeof Phase>;

const common = {
  /** Unique in the run: `item_0`, `item_1`, … */
  id: z.string(),
  status: ItemStatus,
  /** Wall time of the item; only on completed items. */
  duration_ms: z.int().min(0).optional(),
};

/** What a bounded text leaves out, exactly. Bytes of the text before it was bounded. */
export const Omission = z.strictObject({
  total_bytes: z.int().min(0),
  omitted_bytes: z.int().min(0),
  omitted_from: z.int().min(0),
});
export type Omission = z.infer<typeof Omission>;

/** The model's call behind an item; its input is what the model wrote, so that a stream can be replayed. */
const call = { call_id: z.string().optional(), tool: z.string().optional(), input: z.unknown().optional() };

export const FileChange = z.strictObject({
  path: z.string(),
  kind: z.enum(['add', 'update', 'delete']),
});
export type FileChange = z.infer<typeof FileChange>;

export const Item = z.discriminatedUnion('type', [
  z.strictObject({ ...common, type: z.literal('agent_message'), text: z.string() }),
  z.strictObject({ ...common, type: z.literal('reasoning'), text: z.string() }),
  z.strictObject({
    ...common,
    ...call,
    type: z.literal('command_execution'),
    command: z.string(),
    /** stdout and stderr as they came, head and tail; `omission` says what is missing, `output_id` finds it. */
    aggregated_output: z.string(),
    exit_code: z.int().nullable(),
    /** Why it did not end by itself, in words. */
    reason: z.string().optional(),
    omission: Omission.optional(),
    output_id: z.string().optional(),
  }),
  z.strictObject({
    ...common,
    ...call,
    type: z.literal('file_change'),
    changes: z.array(FileChange),
    error: z.string().optional(),
  }),
  z.strictObject({
    ...common,
    ...call,
    type: z.literal('mcp_tool_call'),
    server: z.string(),
    arguments: z.unknown(),
    result: z.unknown().optional(),
    error: z.string().optional(),
  }),
  z.strictObject({
    ...common,
    ...call,
    type: z.literal('todo_list'),
    items: z.array(z.strictObject({ text: z.string(), completed: z.boolean() })),
  }),
  z.strictObject({ ...common, type: z.literal('error'), message: z.string() }),
  z.strictObject({
    ...common,
    ...call,
    type: z.literal('tool_call'),
    /** One line for people: what was asked for. */
    summary: z.string(),
    output: z.string().optional(),
    error: z.string().optional(),
    omission: Omission.optional(),
    output_id: z.string().optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal('check'),
    name: z.string(),
    command: z.string(),
    exit_code: z.int().nullable(),
    passed: z.boolean().nullable(),
    aggregated_output: z.string(),
    omission: Omission.optional(),
    /** Hex sha-256 of the whole output. */
    output_sha256: z.string().optional(),
    reason: z.string().optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal('service'),
    name: z.string(),
    command: z.string(),
    aggregated_output: z.string(),
    omission: Omission.optional(),
    /** Of its last start; null while it is up, and when it was ended with its phase. */
    exit_code: z.int().nullable(),
    /** How often it was started again after it had ended by itself. */
    restarts: z.int().min(0),
    reason: z.string().optional(),
  }),
  z.strictObject({
    ...common,
    ...call,
    type: z.literal('denial'),
    action: z.string(),
    rule: z.string(),
    reason: z.string(),
  }),
]);
export type Item = z.infer<typeof Item>;
export type ItemType = Item['type'];
