import { createHash } from 'node:crypto';
import { readJsonLines } from '../events/index.ts';
import { type ChainEnd, FIRST } from './note-writer.ts';
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

/** Where the chain of a notes file goes on, or what is wrong with the file. */
export async function findChainEnd(path: string): Promise<ChainEnd | { fault: string }> {
  let end: ChainEnd = FIRST;
  for await (const line of readJsonLines(path, { maxLineBytes: MAX_NOTE_BYTES })) {
    if (line.kind === 'fault') return { fault: `line ${line.lineNumber}: ${line.message}` };
    if (line.value['prev'] !== end.prev) return { fault: `line ${line.lineNumber} does not follow the one before` };
    end = { seq: end.seq + 1, prev: createHash('sha256').update(line.line).digest('hex') };
  }
  return end;
}
