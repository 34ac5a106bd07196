import { createHash } from 'node:crypto';
import { FIRST_PREV, type Redactor, toPlainJson } from '../events/index.ts';
import type { Journal } from './journal.ts';
import type { NoteRecord, ThreadNote } from './thread-note.ts';

/** Where a chain goes on. */
export interface ChainEnd {
  seq: number;
  prev: string;
}

export const FIRST: ChainEnd = { seq: 0, prev: FIRST_PREV };

/** Writes notes: redacted, numbered and chained at the time of the call. Resolves with the note as it was written. */
export function createNoteWriter(
  journal: Journal,
  options: { redactor: Pick<Redactor, 'redact'>; end: ChainEnd; now(): number },
) {
  let { seq, prev } = options.end;
  return async (note: ThreadNote): Promise<ThreadNote> => {
    const record: NoteRecord = {
      v: 1,
      seq,
      time: new Date(options.now()).toISOString(),
      prev,
      note: redactNote(note, options.redactor),
    };
    const line = JSON.stringify(record);
    seq++;
    prev = createHash('sha256').update(line).digest('hex');
    await journal.append(`${line}\n`);
    return record.note;
  };
}

/** Every string of a note, but not the words of its own format. */
function redactNote(note: ThreadNote, { redact }: Pick<Redactor, 'redact'>): ThreadNote {
  const plain = toPlainJson(redactPieces(note, redact), { redact, vocabulary: NOTE_WORDS });
  if (plain.kind !== 'message' || plain.message.role !== 'assistant') return plain;
  if (note.kind !== 'message' || note.message.role !== 'assistant') return plain;
  const before = note.message.parts;
  const isUnchanged = plain.message.parts.every((part, i) => {
    const one = before[i];
    return part.state === undefined || JSON.stringify(part) === JSON.stringify(one);
  });
  if (isUnchanged) return plain;
  // A signature that no longer fits its text, or half of an answer's reasoning, is what providers refuse: all of it goes.
  const parts = plain.message.parts.map(({ state: _, ...part }) => part);
  return { ...plain, message: { ...plain.message, parts } };
}

/** Piece by piece, so that they still say where each is. */
function redactPieces(note: ThreadNote, redact: Redactor['redact']): ThreadNote {
  if (note.kind !== 'message' || note.pieces === undefined || note.message.role !== 'user') return note;
  const whole = note.message.text;
  let text = '';
  let from = 0;
  const pieces = note.pieces.map((piece) => {
    text += whole.slice(from, piece.start);
    from = piece.start + piece.length;
    const part = redact(whole.slice(piece.start, from));
    const start = text.length;
    text += part;
    return { ...piece, start, length: part.length };
  });
  return { ...note, message: { role: 'user', text: text + whole.slice(from) }, pieces };
}

const NOTE_WORDS = new Set([
  ...['message', 'rollback', 'fork', 'user', 'assistant', 'tool', 'text', 'reasoning', 'tool_call'],
  ...['output', 'call_ended', 'approval_asked', 'approval_decided', 'approved', 'denied'],
  ...['work_stashed', 'work_restored', 'work_back'],
  ...['prefix', 'compaction', 'elide', 'summarize'],
  ...['stop', 'tool_calls', 'length', 'refusal', 'content_filter', 'other'],
]);
