import type { Usage } from '../events/index.ts';

/** Opaque to belay: what a provider attached to a part, sent back with it. It alone carries preserved reasoning. */
export type ProviderState = Record<string, Record<string, unknown>>;

export interface TextPart {
  type: 'text';
  text: string;
  state?: ProviderState;
}
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  state?: ProviderState;
}
export interface ToolCallPart {
  type: 'tool_call';
  /** Unique in the thread. */
  id: string;
  name: string;
  /** As the model wrote it: JSON text, valid or not. */
  input: string;
  state?: ProviderState;
}
export type AnswerPart = TextPart | ReasoningPart | ToolCallPart;

export interface ToolResultPart {
  callId: string;
  name: string;
  text: string;
  isError: boolean;
  /** Where the whole output is kept, when the text is only a part of it. */
  outputId?: string;
}

export type Message =
  | { role: 'user'; text: string }
  | { role: 'assistant'; parts: readonly AnswerPart[] }
  | { role: 'tool'; results: readonly ToolResultPart[] };

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the input object. */
  inputSchema: Record<string, unknown>;
}

/** One request. Byte-identical prefixes between requests are the caller's business; adapters add nothing volatile. */
export interface ModelRequest {
  system: string;
  tools: readonly ToolSpec[];
  messages: readonly Message[];
  /** Stable for a thread: the provider's prompt-cache key. */
  cacheKey: string;
  maxOutputTokens?: number;
  /** A request beside the conversation: cassettes keep its answer apart. */
  purpose?: 'summary';
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'refusal' | 'content_filter' | 'other';

export interface Answer {
  parts: readonly AnswerPart[];
  finish: FinishReason;
  /** Of this answer; `requests` and `retries` say how many requests it took. */
  usage: Usage;
  /** Calls that the output limit cut: known, never to be run, and no part of the conversation. */
  cutCalls?: readonly ToolCallPart[];
}

export interface ModelFailure {
  /** Stable: `auth`, `invalid_request`, `not_found`, `rate_limited`, `server`, `network`, `stalled`, `malformed`, `context_too_long`, `cassette`, `key`. */
  code: string;
  /** One sentence; redaction is the stream's business, but a key is never put here. */
  message: string;
  /** Whether trying later can help. */
  retryable: boolean;
  httpStatus?: number;
  /** What the provider asks for before the next try. */
  retryAfterMs?: number;
}

export type ModelOutcome =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'failed'; failure: ModelFailure; usage: Usage }
  | { kind: 'aborted'; usage: Usage };

export interface RetryNotice {
  /** Number of the try that failed, from 1. */
  attempt: number;
  delayMs: number;
  httpStatus?: number;
  reason: string;
}

export interface AnswerOptions {
  signal: AbortSignal;
  /** Called before each pause between tries. */
  onRetry?(notice: RetryNotice): Promise<void>;
  /** Called with pieces of text as they stream in; for a live display only. */
  onText?(text: string): void;
}

/**
 * A language model. `answer` never rejects: failure and abort are outcomes. It resolves soon after `signal` aborts.
 * A part of an answer that broke off is never returned: no tool call of it may run.
 */
export interface Model {
  readonly provider: string;
  readonly name: string;
  /** Tokens: the policy's, else of a table of known models, else assumed. */
  readonly contextWindow: number;
  answer(request: ModelRequest, options: AnswerOptions): Promise<ModelOutcome>;
  /** USD of the usage given, null when the price is unknown. */
  costOf(usage: Usage): number | null;
}
