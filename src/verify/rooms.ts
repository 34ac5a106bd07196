import type { TreeId } from '../workspace/index.ts';
import type { Place } from './place.ts';

/** A fresh tree, laid out with what setup left, that no agent was in. */
export interface Room {
  place: Place;
  /** Removes it. */
  close(): Promise<void>;
}

/** `refused`: the tree cannot be laid out or set up, which is the change's fault. */
export type RoomOpening = { kind: 'open'; room: Room } | { kind: 'refused'; reason: string } | { kind: 'cancelled' };

export interface Rooms {
  /** `rerunSetup`: the change touches what setup reads. Rejects only for bugs and a full disk; then nothing is left behind. */
  open(tree: TreeId, how: { rerunSetup: boolean }, signal: AbortSignal): Promise<RoomOpening>;
}
