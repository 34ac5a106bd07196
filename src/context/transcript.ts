import type { Answer, Message, ModelRequest, ToolResultPart, ToolSpec } from '../model/index.ts';
import type { Compaction, MessagePiece, ThreadNote } from '../thread/index.ts';
import { type CompactionPlan, decideCompaction } from './decide-compaction.ts';
import { createNoteFold, type Standing } from './fold-notes.ts';
import { isTrusted, type Source } from './source.ts';
import { createTokenEstimator } from './token-estimate.ts';

/**
 * The conversation: between two compactions a request is the one before with something added, byte for byte. A fold of its notes:
 * one that is opened on the notes of an earlier run is the one that the earlier run had.
 */
export interface Transcript {
  readonly messages: readonly Message[];
  readonly standing: Standing;
  /** Tokens of the model's window; null when unknown. */
  readonly windowTokens: number | null;
  messagesBefore(keptMessages: number): readonly Message[];
  /** What is added from here on belongs to this turn. */
  enterTurn(turn: number): void;
  /** `pieces`: the parts of the text, where they have sources of their own. */
  addUser(text: string, source: Source, pieces?: readonly MessagePiece[]): Promise<void>;
  addAnswer(answer: Answer, about: { attempt: number; costUsd: number | null }): Promise<void>;
  addResults(results: readonly ToolResultPart[], source?: Source): Promise<void>;
  request(): ModelRequest;
  /** Tokens that the next request is likely to cost. */
  estimateTokens(): number;
  bytesOfTokens(tokens: number): number;
  /** Whether the context has to shrink before the next request, and how. `windowTokens`: the window is found to be no larger. */
  decideCompaction(windowTokens?: number): CompactionPlan | null;
  compact(compaction: Compaction): Promise<void>;
}

export interface TranscriptOptions {
  system: string;
  tools: readonly ToolSpec[];
  cacheKey: string;
  /** Tokens; null when unknown. */
  contextWindow: number | null;
  softenAt: number;
  compactAt: number;
  /** Notes of the thread so far, in order: the conversation goes on from them. */
  notes?: Iterable<ThreadNote>;
  /** Keeps each note before it can have an effect, and gives it as it is kept: what is not to be stored is not to be sent either. */
  record(note: ThreadNote): Promise<ThreadNote>;
}

export function createTranscript(options: TranscriptOptions): Transcript {
  const { system, tools, cacheKey, softenAt, compactAt } = options;
  const fixedBytes = Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools));
  const estimator = createTokenEstimator();
  const fold = createNoteFold(fixedBytes, estimator);
  let turn = 0;
  for (const note of options.notes ?? []) {
    fold.apply(note);
    if ('turn' in note) turn = note.turn;
  }
  const windowTokens = () => fold.windowTokens ?? options.contextWindow;

  async function add(note: ThreadNote): Promise<void> {
    fold.apply(await options.record(note));
  }
  type More = Pick<Extract<ThreadNote, { kind: 'message' }>, 'requestTokens' | 'answer' | 'pieces'>;
  const addMessage = (message: Message, source: Source, more: More = {}) =>
    add({ kind: 'message', turn, source, trusted: isTrusted(source), message, ...more });

  return {
    get messages() {
      return fold.messages;
    },
    standing: fold.standing,
    get windowTokens() {
      return windowTokens();
    },
    messagesBefore: fold.messagesBefore,
    enterTurn(next) {
      turn = next;
    },
    addUser: (text, source, pieces) =>
      addMessage({ role: 'user', text }, source, pieces === undefined ? {} : { pieces }),
    addAnswer: ({ parts, finish, usage }, { attempt, costUsd }) =>
      addMessage({ role: 'assistant', parts }, 'model', {
        // Tries that failed are in the usage too: then it says nothing about this request.
        ...(usage.requests === 1 ? { requestTokens: usage.input_tokens } : {}),
        answer: { attempt, finish, usage, costUsd },
      }),
    addResults: (results, source = 'tool_result') => addMessage({ role: 'tool', results }, source),
    request: () => ({ system, tools, messages: [...fold.messages], cacheKey }),
    estimateTokens: () => estimator.estimate(fixedBytes + fold.bytes),
    bytesOfTokens: estimator.bytesOf,
    decideCompaction: (found) =>
      decideCompaction({
        messages: fold.messages,
        bytesOf: fold.bytesOf,
        bytes: fixedBytes + fold.bytes,
        tokensOf: estimator.estimate,
        fixedBytes,
        windowTokens: found ?? windowTokens(),
        softenAt,
        compactAt,
      }),
    compact: (compaction) => add({ kind: 'compaction', turn, compaction }),
  };
}
