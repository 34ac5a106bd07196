import * as z from 'zod';
import type { Answer, AnswerPart } from './model.ts';
import { isRecord, parseToolInput } from './tool-input.ts';

const Count = z.int().min(0);

/** One line of a cassette: one model answer (contract, section 5). Everything is optional; an empty line of JSON is an empty answer. */
export const CassetteAnswer = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  tool_calls: z
    .array(
      z.strictObject({
        name: z.string(),
        input: z.unknown().optional(),
        /** The arguments as the model wrote them, where they are no JSON object. */
        raw_arguments: z.string().optional(),
        /** Kept in recordings; made up where absent. */
        id: z.string().min(1).optional(),
      }),
    )
    .optional(),
  usage: z
    .strictObject({
      input_tokens: Count.default(0),
      cached_input_tokens: Count.default(0),
      output_tokens: Count.default(0),
      reasoning_tokens: Count.default(0),
    })
    .optional(),
  finish: z.enum(['stop', 'tool_calls', 'length', 'refusal', 'content_filter', 'other']).optional(),
  /** The answer to a request beside the conversation: given to such a one only, and passed over by the others. */
  purpose: z.literal('summary').optional(),
  /** Waited before the answer. */
  delay_ms: Count.max(24 * 60 * 60 * 1000).optional(),
  /** The request fails instead; `reset`: the connection broke. */
  error: z
    .strictObject({
      http_status: z.int().min(300).max(599).optional(),
      retry_after_s: z.number().min(0).optional(),
      message: z.string().optional(),
      reset: z.boolean().optional(),
    })
    .optional(),
  /** `requestDigest` of the request that got this answer: what drift is measured against. */
  request_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});
export type CassetteAnswer = z.infer<typeof CassetteAnswer>;

/** The line of an answer. Calls that were cut come after the others. Reasoning and text are joined in front of the calls; provider state is not kept. */
export function renderCassetteAnswer(answer: Answer, requestSha256: string): CassetteAnswer {
  const { parts, usage, finish, cutCalls = [] } = answer;
  const calls = [...parts.flatMap((part) => (part.type === 'tool_call' ? [part] : [])), ...cutCalls];
  const joined = (type: 'text' | 'reasoning'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const usual = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    request_sha256: requestSha256,
    ...withText('reasoning', joined('reasoning')),
    ...withText('text', joined('text')),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map(({ id, name, input }) => ({ id, name, ...renderInput(input) })) }),
    usage: {
      input_tokens: usage.input_tokens,
      cached_input_tokens: usage.cached_input_tokens,
      output_tokens: usage.output_tokens,
      reasoning_tokens: usage.reasoning_tokens,
    },
    ...(finish === usual ? {} : { finish }),
  };
}

/** The parts of a line, calls with ids that begin with `r<index>_` where the line has none. */
export function partsOf(line: CassetteAnswer, index: number): AnswerPart[] {
  const calls = line.tool_calls ?? [];
  return [
    ...(line.reasoning ? [{ type: 'reasoning' as const, text: line.reasoning }] : []),
    ...(line.text ? [{ type: 'text' as const, text: line.text }] : []),
    ...calls.map(({ id, name, input, raw_arguments }, k) => ({
      type: 'tool_call' as const,
      id: id ?? `r${index}_${k}`,
      name,
      input: raw_arguments ?? JSON.stringify(input ?? {}),
    })),
  ];
}

/** An input that is a JSON object as such, any other text as it is. */
export function renderInput(input: unknown): { input: unknown } | { raw_arguments: string } {
  if (isRecord(input)) return { input };
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  const object = parseToolInput(text);
  return object === null ? { raw_arguments: text } : { input: object };
}

function withText<K extends 'text' | 'reasoning'>(key: K, text: string): Partial<Record<K, string>> {
  const named: Partial<Record<K, string>> = {};
  if (text !== '') named[key] = text;
  return named;
}
