import type { BatchStop, Interruption, Result } from '../events/index.ts';
import { createStopRule } from './stop-rule.ts';

/** Why a batch starts nothing more: the first reason stays, but for an interruption, which outranks it. */
export interface BatchStops {
  why(): BatchStop | null;
  /** Told of every job that ran, in the order in which they end. */
  note(result: Result): void;
  stop(because: BatchStop): BatchStop;
}

export function createBatchStops(stopAfter: number | null, interruption: () => Interruption | null): BatchStops {
  const rule = createStopRule(stopAfter);
  let found: BatchStop | null = null;
  const why = (): BatchStop | null => {
    const signal = interruption();
    return signal === null ? found : { kind: 'interrupted', reason: `${signal} ended the batch` };
  };
  return {
    why,
    note(result) {
      const reason = rule.note(result);
      if (reason !== null) found ??= { kind: 'stop_after', reason };
    },
    stop(because) {
      // A wall time that is over is over for every job; a purse too small for one may do for another.
      if (because.kind === 'wall_time' || because.kind === 'results') found ??= because;
      return because;
    },
  };
}
