import { UsageError } from '../errors.ts';
import { type Timeline, treeAfter } from '../thread/index.ts';
import type { TreeId } from '../workspace/index.ts';

/** A place of a thread's timeline: `base` (as the thread found the workspace), a turn, or `final` (the end of its last run). */
export type Place = { kind: 'base' } | { kind: 'turn'; turn: number } | { kind: 'final' };

/** null for what is no place. */
export function parsePlace(text: string): Place | null {
  if (text === 'base' || text === 'final') return { kind: text };
  if (!/^(0|[1-9]\d{0,8})$/.test(text)) return null;
  return text === '0' ? { kind: 'base' } : { kind: 'turn', turn: Number(text) };
}

export interface PlacedTree {
  /** 0: before the first. */
  turn: number;
  tree: TreeId;
}

/** Throws UsageError for a turn that the thread does not have. */
export function findPlace(place: Place, { timeline, base }: { timeline: Timeline; base: TreeId }): PlacedTree {
  if (place.kind === 'base') return { turn: 0, tree: base };
  if (place.kind === 'final') {
    const turn = timeline.position;
    const ended = timeline.rollbacks.at(-1)?.lastTurn === timeline.lastTurn ? null : timeline.runs.at(-1)?.finalTree;
    return { turn, tree: ended ?? treeAfter(timeline, turn) ?? base };
  }
  const found = timeline.turns.get(place.turn);
  if (found === undefined || found.status === 'open') {
    const has = timeline.lastTurn === 0 ? 'it has none' : `it has turns 1 to ${timeline.lastTurn}`;
    const why = found === undefined ? has : 'that turn did not come to its end';
    throw new UsageError(`the thread has no turn ${place.turn} to go to: ${why}`, { code: 'no_turn' });
  }
  return { turn: place.turn, tree: treeAfter(timeline, place.turn) ?? base };
}
