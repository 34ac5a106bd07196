import { createBranch } from './branch.ts';
import type { NoteLine } from './read-notes.ts';
import type { Compaction, ThreadNote } from './thread-note.ts';

export type MessageNote = Extract<ThreadNote, { kind: 'message' }>;

/** Notes up to where the thread stands. A damaged line ends them: nothing behind it can be trusted to follow. */
export async function readBranch(lines: AsyncIterable<NoteLine>): Promise<ThreadNote[]> {
  const branch = createBranch();
  for await (const line of lines) {
    if (line.kind === 'fault') break;
    branch.add(line.note);
  }
  return branch.list();
}

export interface RequestNotes {
  /** Up to the request: all that came before its answer. */
  notes: ThreadNote[];
  /** Where the past was summarized in this turn: what came of it. */
  compaction: Compaction | null;
}

/** What the notes know of the request of a turn; null when nothing came of it that is on record. */
export async function notesOfRequest(lines: AsyncIterable<NoteLine>, turn: number): Promise<RequestNotes | null> {
  const branch = createBranch();
  for await (const line of lines) {
    if (line.kind === 'fault') break;
    const { note } = line;
    if (note.kind === 'message' && note.turn === turn && note.message.role === 'assistant')
      return { notes: branch.list(), compaction: null };
    if (note.kind === 'compaction' && note.turn === turn && note.compaction.standIn !== null)
      return { notes: branch.list(), compaction: note.compaction };
    branch.add(note);
  }
  return null;
}

/** The calls of the last answer that no result answers yet. */
export function unansweredCalls(notes: readonly ThreadNote[]): { callId: string; name: string }[] {
  const messages = notes.flatMap((note) => (note.kind === 'message' ? [note.message] : []));
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const answer = messages[last];
  if (answer?.role !== 'assistant') return [];
  const answered = new Set(
    messages
      .slice(last)
      .flatMap((message) => (message.role === 'tool' ? message.results.map((result) => result.callId) : [])),
  );
  return answer.parts.flatMap((part) =>
    part.type === 'tool_call' && !answered.has(part.id) ? [{ callId: part.id, name: part.name }] : [],
  );
}
