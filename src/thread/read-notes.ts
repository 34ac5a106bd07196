import { createHash } from 'node:crypto';
import * as z from 'zod';
import { readJsonLines } from '../events/index.ts';
import { type ChainEnd, FIRST } from './note-writer.ts';
import type { OutputNote } from './stored-output.ts';
import { NoteRecord, type ThreadNote } from './thread-note.ts';

/** A note may hold a whole reference file. */
const MAX_NOTE_BYTES = 256 * 1024 * 1024;

export type NoteLine = { kind: 'note'; note: ThreadNote } | { kind: 'fault'; lineNumber: number; reason: string };

/** The notes of a thread in order. A line that is torn, altered or out of its chain is a fault, and the last thing that comes. */
export async function* readNoteFile(path: string): AsyncGenerator<NoteLine, void, undefined> {
  for await (const line of readNoteLines(path)) yield line.kind === 'fault' ? line : { kind: 'note', note: line.note };
}

/** The same with the text of each line, without its newline. */
export async function* readNoteLines(
  path: string,
): AsyncGenerator<Extract<NoteLine, { kind: 'fault' }> | { kind: 'note'; note: ThreadNote; line: string }> {
  let end: ChainEnd = FIRST;
  for await (const line of readJsonLines(path, { maxLineBytes: MAX_NOTE_BYTES })) {
    if (line.kind === 'fault') return yield { kind: 'fault', lineNumber: line.lineNumber, reason: line.message };
    const parsed = NoteRecord.safeParse(line.value);
    if (!parsed.success)
      return yield { kind: 'fault', lineNumber: line.lineNumber, reason: 'the line is no note of this version' };
    if (parsed.data.seq !== end.seq || parsed.data.prev !== end.prev) {
      return yield { kind: 'fault', lineNumber: line.lineNumber, reason: 'the line does not follow the one before' };
    }
    end = { seq: end.seq + 1, prev: createHash('sha256').update(line.line).digest('hex') };
    yield { kind: 'note', note: parsed.data.note, line: line.line };
  }
}

/** What whoever writes a thread has to know of the notes so far, without reading all that they say. */
export interface NoteScan {
  /** Where the chain goes on. */
  end: ChainEnd;
  /** By id. */
  outputs: Map<string, OutputNote>;
}

/** Of a note of any version: the whole schema costs several times the reading of the line. */
const AnyNote = z.object({ note: z.object({ kind: z.string() }) });

/** Reads a notes file as far as it is whole, and says what is wrong with it. */
export async function scanNotes(path: string): Promise<NoteScan & { fault: string | null }> {
  let end: ChainEnd = FIRST;
  const outputs = new Map<string, OutputNote>();
  for await (const line of readJsonLines(path, { maxLineBytes: MAX_NOTE_BYTES })) {
    const broken = (what: string) => ({ end, outputs, fault: `line ${line.lineNumber}${what}` });
    if (line.kind === 'fault') return broken(`: ${line.message}`);
    if (line.value['prev'] !== end.prev) return broken(' does not follow the one before');
    end = { seq: end.seq + 1, prev: createHash('sha256').update(line.line).digest('hex') };
    if (AnyNote.safeParse(line.value).data?.note.kind !== 'output') continue;
    const note = NoteRecord.safeParse(line.value).data?.note;
    if (note === undefined) return broken(' is no note of this version');
    if (note.kind === 'output') outputs.set(note.id, note);
  }
  return { end, outputs, fault: null };
}
