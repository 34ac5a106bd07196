import {
  createEventStream,
  createRedactor,
  type Event,
  type EventBody,
  NO_USAGE,
  type Result,
} from '../../src/events/index.ts';

export const fixedClock = { now: () => Date.UTC(2030, 0, 2, 3, 4, 5, 6) };

/** A result of a run that gave up, with what a test wants to be different. */
export const sampleResult = (more: Partial<Result> = {}): Result => ({
  schema: 'belay.result/v1',
  outcome: 'gave_up',
  exit_code: 14,
  verified: false,
  evidence: 'none',
  ended_by: 'finish',
  reason: 'nothing to do',
  message: '',
  question: null,
  risks: [],
  review: [],
  goal: null,
  thread_id: 't_1',
  run_id: 'r_1',
  changes: {
    files: [],
    patch: null,
    patch_sha256: null,
    base_commit: null,
    base_dirty: false,
    tree: null,
    tests: [],
    dependencies: [],
    restored: true,
  },
  checks: [],
  usage: NO_USAGE,
  cost_usd: null,
  limits: {
    turns: { used: 0, max: 1 },
    attempts: { used: 0, max: 1 },
    wall_time_ms: { used: 0, max: 1 },
    tokens: { used: 0, max: 1 },
    cost_usd: { used: 0, max: null },
    tool_calls: { used: 0, max: 1 },
  },
  denials: [],
  policy: null,
  sandbox: null,
  model: null,
  started_at: '2030-01-02T03:04:05.006Z',
  duration_ms: 0,
  ...more,
});

export const runStarted: EventBody = {
  type: 'run.started',
  belay_version: '0.0.0',
  goal: { text: 'fix it', sha256: 'a'.repeat(64) },
  policy: null,
  model: { provider: 'replay', name: 'm' },
  sandbox: { tier: 'bubblewrap', reason: 'probed', network: 'none' },
  workspace: { root: '/w', base_commit: null, dirty: false, git: true },
  limits: { turns: 1 },
  thread_id: 't_1',
};

const usage = { ...NO_USAGE, input_tokens: 100, output_tokens: 20, requests: 1 };

/** A small whole run. */
export const WHOLE_RUN: readonly EventBody[] = [
  runStarted,
  { type: 'thread.started', thread_id: 't_1' },
  { type: 'turn.started', turn: 1, attempt: 1 },
  {
    type: 'item.started',
    turn: 1,
    phase: 'agent',
    item: {
      id: 'item_0',
      type: 'command_execution',
      status: 'in_progress',
      command: 'ls',
      aggregated_output: '',
      exit_code: null,
    },
  },
  {
    type: 'item.completed',
    turn: 1,
    phase: 'agent',
    item: {
      id: 'item_0',
      type: 'command_execution',
      status: 'completed',
      command: 'ls',
      aggregated_output: 'a',
      exit_code: 0,
      duration_ms: 3,
    },
  },
  {
    type: 'item.completed',
    turn: 1,
    phase: 'agent',
    item: { id: 'item_1', type: 'agent_message', status: 'completed', text: 'Done.' },
  },
  {
    ...{
      type: 'turn.completed',
      turn: 1,
      attempt: 1,
      usage,
      total_usage: usage,
      cost_usd: 0.01,
      duration_ms: 5,
      snapshot: null,
    },
    changes: [],
  },
  { type: 'verification.started', attempt: 1, clean_room: true },
  { type: 'verification.completed', attempt: 1, clean_room: true, passed: true, checks: [] },
  { type: 'run.completed', result: sampleResult({ usage }) },
];

/** The lines that a stream makes of events, and the events as sinks get them. */
export async function write(
  bodies: readonly EventBody[],
  runId = 'r_1',
): Promise<{ lines: string[]; events: Event[] }> {
  const lines: string[] = [];
  const events: Event[] = [];
  const stream = createEventStream({
    runId,
    redactor: createRedactor([]),
    clock: fixedClock,
    sinks: [
      {
        async write(line, event) {
          lines.push(line);
          events.push(event);
        },
        async close() {},
      },
    ],
    onSinkFailed(_, error) {
      throw error;
    },
  });
  for (const body of bodies) await stream.emit(body);
  return { lines, events };
}
