import type { ThreadNote } from './thread-note.ts';

interface Entry {
  note: ThreadNote;
  previous: Entry | null;
}

/** Notes from the first to the one where the thread stands. */
export interface Branch {
  add(note: ThreadNote): void;
  list(): ThreadNote[];
}

/** Notes grow like a tree: what a rollback left stays on a branch of its own, and can be gone back to. */
export function createBranch(): Branch {
  let tail: Entry | null = null;
  /** The turn whose end the next note moves; null behind a rollback, until the next turn begins. */
  let current: number | null = 0;
  let lastTurn = 0;
  const ends = new Map<number, Entry | null>([[0, null]]);
  return {
    add(note) {
      if (note.kind === 'rollback') {
        const turn = [...ends.keys()].reduce((last, one) => (one <= note.toTurn && one > last ? one : last), 0);
        tail = ends.get(turn) ?? null;
        current = null;
        lastTurn = Math.max(lastTurn, note.lastTurn);
        return;
      }
      if ('turn' in note && note.turn > lastTurn) current = lastTurn = note.turn;
      tail = { note, previous: tail };
      if (current !== null) ends.set(current, tail);
    },
    list() {
      const notes: ThreadNote[] = [];
      for (let at = tail; at !== null; at = at.previous) notes.push(at.note);
      return notes.reverse();
    },
  };
}
