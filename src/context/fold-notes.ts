import type { Message } from '../model/index.ts';
import type { ThreadNote } from '../thread/index.ts';
import { parsePlan } from '../tools/index.ts';
import { applyCompaction } from './apply-compaction.ts';
import { bytesOfMessage } from './message-bytes.ts';
import { createTokenEstimator, type TokenEstimator } from './token-estimate.ts';

/** What of the conversation has to outlive every compaction. */
export interface Standing {
  /** The last valid plan, one line a step. */
  plan: string | null;
  /** What the last verification had against the work. */
  evidence: string | null;
  /** What was put in between turns by the user. */
  steers: readonly string[];
  /** What the last compaction said was done. */
  summary: string | null;
}

/** The context as the notes of a thread give it. */
export interface NoteFold {
  readonly messages: readonly Message[];
  readonly standing: Standing;
  /** Tokens of the window where a compaction recorded it. */
  readonly windowTokens: number | null;
  /** What a summary has to tell of: all but the first message, the last `keptMessages` and what stood for older ones. */
  messagesBefore(keptMessages: number): readonly Message[];
  /** Of all messages. */
  readonly bytes: number;
  bytesOf(message: Message): number;
  apply(note: ThreadNote): void;
}

/** `fixedBytes`: system prompt and tools, which every request carries; `estimator` learns from the counts in the notes. */
export function createNoteFold(fixedBytes: number, estimator: TokenEstimator = createTokenEstimator()): NoteFold {
  let messages: Message[] = [];
  let bytes = 0;
  let windowTokens: number | null = null;
  let standIn: Message | undefined;
  const steers: string[] = [];
  const standing: { -readonly [K in keyof Standing]: Standing[K] } = {
    plan: null,
    evidence: null,
    steers,
    summary: null,
  };
  const sizes = new WeakMap<Message, number>();

  function bytesOf(message: Message): number {
    const known = sizes.get(message);
    if (known !== undefined) return known;
    const size = bytesOfMessage(message);
    sizes.set(message, size);
    return size;
  }

  function note(message: Message, source: string): void {
    if (message.role === 'assistant') {
      for (const part of message.parts)
        if (part.type === 'tool_call' && part.name === 'update_plan')
          standing.plan = parsePlan(part.input) ?? standing.plan;
    } else if (source === 'verification') {
      // The evidence answers the `finish` that it refutes, where there was one.
      standing.evidence =
        message.role === 'user'
          ? message.text
          : (message.results.findLast(({ name }) => name === 'finish')?.text ?? null);
    } else if (message.role === 'user' && source === 'steer') steers.push(message.text);
  }

  return {
    get messages() {
      return messages;
    },
    standing,
    get windowTokens() {
      return windowTokens;
    },
    get bytes() {
      return bytes;
    },
    bytesOf,
    messagesBefore: (keptMessages) =>
      messages.slice(1, Math.max(1, messages.length - keptMessages)).filter((message) => message !== standIn),
    apply(entry) {
      if (entry.kind === 'compaction') {
        messages = applyCompaction(messages, entry.compaction);
        bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0);
        windowTokens = entry.compaction.windowTokens ?? windowTokens;
        if (entry.compaction.standIn === null) return;
        standIn = messages[1];
        standing.summary = entry.compaction.standIn.summary;
        return;
      }
      if (entry.kind !== 'message') return;
      // Before the answer is part of it: the count is that of the request.
      if (entry.requestTokens !== undefined) estimator.correct(fixedBytes + bytes, entry.requestTokens);
      messages.push(entry.message);
      bytes += bytesOf(entry.message);
      note(entry.message, entry.source);
    },
  };
}
