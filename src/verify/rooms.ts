import type { TreeId } from '../workspace/index.ts';
import type { Place } from './place.ts';

/** A fresh tree, laid out with what setup left, that no agent was in. */
export interface Room {
  place: Place;
  /** Judged files (the tree's and the hidden ones) that checks have changed since; what they added is not looked for. Starts git once. */
  changed(): Promise<readonly string[]>;
  /** Puts the judged files back. Nothing may run in the room meanwhile. Returns why it could not, or null. */
  putBack(changed: readonly string[]): Promise<string | null>;
  /** Removes it. */
  close(): Promise<void>;
}

/** `refused`: the tree cannot be laid out or set up, which is the change's fault. */
export type RoomOpening = { kind: 'open'; room: Room } | { kind: 'refused'; reason: string } | { kind: 'cancelled' };

export interface Rooms {
  /** `rerunSetup`: the change touches what setup reads. Rejects only for bugs and a full disk; then nothing is left behind. */
  open(tree: TreeId, how: { rerunSetup: boolean }, signal: AbortSignal): Promise<RoomOpening>;
}
