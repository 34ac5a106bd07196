import type { Message } from '../model/index.ts';
import type { ThreadNote } from '../thread/index.ts';
import { applyCompaction } from './apply-compaction.ts';

/** A piece of text that a request carried, and where it came from. */
export interface RequestPiece {
  role: 'system' | 'tools' | Message['role'];
  /** `system`, `tools`, `goal`, `rules`, `instructions PATH`, `reference PATH`, `tool NAME`, `model`, `summary`, … */
  source: string;
  /** Whether it may tell the model what to do. */
  trusted: boolean;
  /** The turn in or behind which it came; null: before all of them. */
  turn: number | null;
  /** Of a tool's result. */
  callId: string | null;
  text: string;
}

type MessageNote = Extract<ThreadNote, { kind: 'message' }>;

/** What the notes of a thread, up to a request, put into that request: every piece, in its order. */
export function listRequestPieces(notes: readonly ThreadNote[]): RequestPiece[] {
  let messages: Message[] = [];
  const origins = new Map<Message, MessageNote>();
  /** By call: what compaction put in the place of a result. */
  const replaced = new Set<string>();
  let summaryTurn: number | null = null;
  let prefix: RequestPiece[] = [];
  for (const note of notes) {
    if (note.kind === 'prefix') prefix = piecesOfPrefix(note);
    if (note.kind === 'message') {
      messages.push(note.message);
      origins.set(note.message, note);
    }
    if (note.kind !== 'compaction') continue;
    messages = applyCompaction(messages, note.compaction);
    for (const { callId } of note.compaction.results) replaced.add(callId);
    if (note.compaction.standIn !== null) summaryTurn = note.turn;
  }
  const turns = new Map<string, number>();
  for (const note of origins.values())
    if (note.message.role === 'tool') for (const { callId } of note.message.results) turns.set(callId, note.turn);
  return [
    ...prefix,
    ...messages.flatMap((message): RequestPiece[] => {
      const origin = origins.get(message);
      if (message.role === 'tool') return piecesOfResults(message, { origin, replaced, turns });
      if (origin !== undefined) return piecesOfNote(message, origin);
      // What stands for the past: written by the model, or by belay out of what the model and its tools said.
      const text = message.role === 'user' ? message.text : textOf(message);
      return [{ role: message.role, source: 'summary', trusted: false, turn: summaryTurn, callId: null, text }];
    }),
  ];
}

function piecesOfPrefix({ system, tools }: Extract<ThreadNote, { kind: 'prefix' }>): RequestPiece[] {
  const common = { trusted: true, turn: null, callId: null };
  return [
    { role: 'system', source: 'system', ...common, text: system },
    { role: 'tools', source: 'tools', ...common, text: tools.join('\n') },
  ];
}

function piecesOfNote(message: Exclude<Message, { role: 'tool' }>, note: MessageNote): RequestPiece[] {
  const { role } = message;
  const common = { role, turn: note.turn === 0 ? null : note.turn, callId: null };
  if (message.role === 'assistant' || note.pieces === undefined) {
    const text = message.role === 'user' ? message.text : textOf(message);
    return [{ ...common, source: note.source, trusted: note.trusted, text }];
  }
  return note.pieces.map(({ source, trusted, start, length }) => ({
    ...{ ...common, source, trusted },
    text: message.text.slice(start, start + length),
  }));
}

function piecesOfResults(
  message: Extract<Message, { role: 'tool' }>,
  known: { origin: MessageNote | undefined; replaced: ReadonlySet<string>; turns: ReadonlyMap<string, number> },
): RequestPiece[] {
  const isEvidence = known.origin?.source === 'verification';
  return message.results.map(({ callId, name, text }) => ({
    ...{ role: 'tool' as const, trusted: false, callId, turn: known.turns.get(callId) ?? null, text },
    source:
      isEvidence && name === 'finish'
        ? 'verification'
        : `tool ${name}${known.replaced.has(callId) ? ', shortened' : ''}`,
  }));
}

function textOf(message: Extract<Message, { role: 'assistant' }>): string {
  return message.parts.map((part) => (part.type === 'tool_call' ? `${part.name} ${part.input}` : part.text)).join('\n');
}
