import fc from 'fast-check';
import { createTranscript, type Transcript } from '../../src/context/index.ts';
import { NO_USAGE } from '../../src/events/index.ts';
import type { AnswerPart, ToolResultPart } from '../../src/model/index.ts';
import type { ThreadNote } from '../../src/thread/index.ts';

/** One step of a conversation, as the loop would make it. */
export type Step =
  | {
      kind: 'answer';
      text: string;
      calls: readonly { name: string; input: string; output: string; isError: boolean }[];
    }
  | { kind: 'evidence'; text: string }
  | { kind: 'steer'; text: string };

const words = (max: number) =>
  fc
    .nat(max)
    .map((length) => 'some words and a number 4711 in a line\n'.repeat(Math.ceil(length / 38)).slice(0, length));
const call = fc.oneof(
  fc.record({
    name: fc.constantFrom('shell', 'read_file', 'search'),
    input: fc
      .record({ command: fc.oneof({ weight: 3, arbitrary: words(300) }, { weight: 1, arbitrary: words(6000) }) })
      .map((input) => JSON.stringify(input)),
    output: fc.oneof(words(400), words(12_000)),
    isError: fc.boolean(),
  }),
  fc.nat(99).map((n) => ({
    name: 'update_plan',
    input: JSON.stringify({ steps: [{ text: `plan-step-${n}`, status: 'in_progress' }] }),
    output: 'Plan updated.',
    isError: false,
  })),
  fc.constant({ name: 'update_plan', input: '{"steps": 7}', output: 'not valid', isError: true }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      text: words(200),
      calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.nat(99).map((n) => ({ kind: 'evidence' as const, text: `evidence-${n}: a test is red` })),
  },
  { weight: 1, arbitrary: fc.nat(99).map((n) => ({ kind: 'steer' as const, text: `steer-${n}` })) },
);
export const histories = fc.array(step, { minLength: 10, maxLength: 60 });

export const GOAL = 'goal-4711\ninstruction-4713: keep it short';
export const TOOLS = [{ name: 'shell', description: 'Runs a command.', inputSchema: { type: 'object' } }];

/** A transcript whose notes are kept as JSON text, as a thread keeps them. */
export function createNoted(contextWindow: number | null, lines: string[] = []): Transcript {
  return createTranscript({
    system: 'Be good.',
    tools: TOOLS,
    cacheKey: 'thread_1',
    contextWindow,
    softenAt: 0.6,
    compactAt: 0.85,
    notes: lines.map((line): ThreadNote => JSON.parse(line)),
    async record(note) {
      lines.push(JSON.stringify(note));
      return note;
    },
  });
}

let ids = 0;

/** Takes a step; returns the results that were added. */
export async function take(transcript: Transcript, given: Step): Promise<readonly ToolResultPart[]> {
  if (given.kind === 'evidence') await transcript.addUser(given.text, 'verification');
  if (given.kind === 'steer') await transcript.addUser(given.text, 'steer');
  if (given.kind !== 'answer') return [];
  const calls = given.calls.map((entry) => {
    ids += 1;
    return { ...entry, id: `call_${ids}` };
  });
  const parts: AnswerPart[] = [
    { type: 'reasoning', text: 'Hm.', state: { provider: { signature: `sig_${ids}` } } },
    { type: 'text', text: given.text },
    ...calls.map(({ id, name, input }) => ({
      type: 'tool_call' as const,
      id,
      name,
      input,
      state: { provider: { item: id } },
    })),
  ];
  const usage = { ...NO_USAGE, input_tokens: transcript.estimateTokens(), requests: 1 };
  await transcript.addAnswer({ parts, finish: 'tool_calls', usage }, { attempt: 1, costUsd: null });
  const results = calls.map(({ id, name, output, isError }) => ({ callId: id, name, text: output, isError }));
  await transcript.addResults(results);
  return results;
}
