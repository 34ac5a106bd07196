import type { Event } from '../events/index.ts';

/** How the runs of a thread left the workspace, as far as their events tell. */
export interface RunEnds {
  /** Whether the last run that was at the workspace did not come to put it in order: it was killed, or failed at that. */
  readonly isCutOff: boolean;
  /** Tree that the last run which ended left in the workspace; null where it put it back, or is not known. */
  readonly leftTree: string | null;
  /** Whether that run kept a change. */
  readonly hasKept: boolean;
  take(event: Event): void;
}

export function createRunEnds(): RunEnds {
  let before = false;
  let isAtWork = false;
  const ends = {
    isCutOff: false,
    leftTree: null as string | null,
    hasKept: false,
    take(event: Event): void {
      switch (event.type) {
        case 'run.started':
          before = ends.isCutOff;
          ends.isCutOff = true;
          isAtWork = false;
          break;
        case 'run.completed': {
          const { tree, restored, files } = event.result.changes;
          // Without a tree it did not settle; where it did nothing before, all is as it found it.
          ends.isCutOff = tree === null && (isAtWork || before);
          if (tree !== null) {
            ends.leftTree = restored ? null : tree;
            ends.hasKept = !restored && files.length > 0;
          }
          break;
        }
        case 'thread.started':
        case 'error':
          break;
        default:
          isAtWork = true;
      }
    },
  };
  return ends;
}
