import type { AnswerPart, Message, ModelRequest, ToolResultPart, ToolSpec } from '../model/index.ts';
import { createTokenEstimator } from './token-estimate.ts';

/** Where a text in the context came from; only `goal`, `instructions` and belay's own words are trusted. */
export type Source = 'goal' | 'nudge' | 'verification' | 'steer' | 'tool_result' | 'model';

export interface Transcript {
  readonly messages: readonly Message[];
  addUser(text: string, source: Source): Promise<void>;
  addAnswer(parts: readonly AnswerPart[]): Promise<void>;
  addResults(results: readonly ToolResultPart[]): Promise<void>;
  request(): ModelRequest;
  /** Tokens that the next request is likely to cost. */
  estimateTokens(): number;
  /** Learns from the provider's own count of the request just made. */
  correctEstimate(inputTokens: number): void;
}

export interface TranscriptOptions {
  system: string;
  tools: readonly ToolSpec[];
  cacheKey: string;
  /** Keeps each message before it can have an effect. */
  record(message: Message, source: Source): Promise<void>;
}

function bytesOf(message: Message): number {
  if (message.role === 'user') return Buffer.byteLength(message.text);
  if (message.role === 'tool') return message.results.reduce((n, result) => n + Buffer.byteLength(result.text) + 40, 0);
  return message.parts.reduce(
    (n, part) => n + Buffer.byteLength(part.type === 'tool_call' ? part.input : part.text) + 40,
    0,
  );
}

/** The conversation, append-only: a request is the one before with something added, byte for byte. */
export function createTranscript(options: TranscriptOptions): Transcript {
  const messages: Message[] = [];
  const estimator = createTokenEstimator();
  let bytes = Buffer.byteLength(options.system) + Buffer.byteLength(JSON.stringify(options.tools));

  async function add(message: Message, source: Source): Promise<void> {
    await options.record(message, source);
    messages.push(message);
    bytes += bytesOf(message);
  }

  return {
    messages,
    addUser: (text, source) => add({ role: 'user', text }, source),
    addAnswer: (parts) => add({ role: 'assistant', parts }, 'model'),
    addResults: (results) => add({ role: 'tool', results }, 'tool_result'),
    request: () => ({
      system: options.system,
      tools: options.tools,
      messages: [...messages],
      cacheKey: options.cacheKey,
    }),
    estimateTokens: () => estimator.estimate(bytes),
    correctEstimate: (inputTokens) => estimator.correct(bytes, inputTokens),
  };
}
