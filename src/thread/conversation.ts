import type { NoteLine } from './note-log.ts';
import type { ThreadNote } from './thread-note.ts';

export type MessageNote = Extract<ThreadNote, { kind: 'message' }>;

interface Entry {
  note: MessageNote;
  previous: Entry | null;
}

/** What was said in a thread. Turns that a rollback left are still there, but on a branch of their own. */
export interface Conversation {
  /** Messages up to where the thread stands now. */
  now(): MessageNote[];
  /** Up to the end of a turn: its results and what belay said after it. 0: what came before the first. */
  after(turn: number): MessageNote[];
  /** What the request of a turn held; null when the turn has no answer. */
  before(turn: number): MessageNote[] | null;
}

/** Folds notes into conversations. A damaged line ends it: nothing behind it can be trusted to follow. */
export async function readConversation(notes: AsyncIterable<NoteLine> | Iterable<NoteLine>): Promise<Conversation> {
  let tail: Entry | null = null;
  /** The turn that messages belong to; null behind a rollback, until the next turn begins. */
  let current: number | null = 0;
  let lastTurn = 0;
  const ends = new Map<number, Entry | null>();
  const answers = new Map<number, Entry>();
  for await (const line of notes) {
    if (line.kind === 'fault') break;
    const { note } = line;
    if (note.kind === 'rollback') {
      tail = ends.get(note.toTurn) ?? null;
      current = null;
      lastTurn = note.lastTurn;
    } else if (note.kind === 'message') {
      if (note.turn > lastTurn) current = lastTurn = note.turn;
      tail = { note, previous: tail };
      if (current !== null) ends.set(current, tail);
      if (note.message.role === 'assistant') answers.set(note.turn, tail);
    }
  }
  const now = tail;
  return {
    now: () => listUpTo(now),
    after(turn) {
      for (let at = turn; at >= 0; at--) if (ends.has(at)) return listUpTo(ends.get(at) ?? null);
      return [];
    },
    before(turn) {
      const answer = answers.get(turn);
      return answer === undefined ? null : listUpTo(answer.previous);
    },
  };
}

function listUpTo(entry: Entry | null): MessageNote[] {
  const notes: MessageNote[] = [];
  for (let at = entry; at !== null; at = at.previous) notes.push(at.note);
  return notes.reverse();
}

/** The calls of the last answer that no result answers yet. */
export function unansweredCalls(messages: readonly MessageNote[]): { callId: string; name: string }[] {
  const last = messages.findLastIndex(({ message }) => message.role === 'assistant');
  const answer = messages[last]?.message;
  if (answer?.role !== 'assistant') return [];
  const answered = new Set(
    messages
      .slice(last)
      .flatMap(({ message }) => (message.role === 'tool' ? message.results.map((result) => result.callId) : [])),
  );
  return answer.parts.flatMap((part) =>
    part.type === 'tool_call' && !answered.has(part.id) ? [{ callId: part.id, name: part.name }] : [],
  );
}
