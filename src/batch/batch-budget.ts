import type { BatchStop } from '../events/index.ts';
import type { Limits } from '../policy/index.ts';

/** Over the whole batch; null: not limited. */
export interface BatchLimits {
  costUsd: number | null;
  tokens: number | null;
  wallTimeMs: number | null;
}

/** What one run may use at most. `capped`: less than its policy would let it. */
export interface Grant {
  limits: Pick<Limits, 'tokens' | 'costUsd' | 'wallTimeMs'>;
  capped: boolean;
  /** Gives back what was not used. */
  settle(used: { tokens: number; costUsd: number | null }): void;
}

/**
 * A budget that is never overdrawn: a run starts with its own limits set aside. Where less is left, it waits for what others give back;
 * the last one gets what there is.
 */
export interface BatchBudget {
  take(limits: Limits): Promise<Grant | BatchStop>;
}

type Purse = 'tokens' | 'costUsd';
const PURSES: readonly Purse[] = ['tokens', 'costUsd'];
const KINDS = { tokens: 'tokens', costUsd: 'cost_usd' } as const;

export function createBatchBudget(total: BatchLimits, now: () => number): BatchBudget {
  const start = now();
  const left = { tokens: total.tokens ?? Number.POSITIVE_INFINITY, costUsd: total.costUsd ?? Number.POSITIVE_INFINITY };
  let running = 0;
  const wake: (() => void)[] = [];
  const change = () => new Promise<void>((resolve) => wake.push(resolve));
  const timeLeftMs = () => (total.wallTimeMs === null ? Number.POSITIVE_INFINITY : total.wallTimeMs - (now() - start));

  function grant(limits: Limits): Grant {
    const whole = { tokens: Math.floor(left.tokens), costUsd: left.costUsd };
    const own = { tokens: Math.min(limits.tokens, whole.tokens), costUsd: Math.min(limits.costUsd, whole.costUsd) };
    const wallTimeMs = Math.min(limits.wallTimeMs, Math.floor(timeLeftMs()));
    left.tokens -= own.tokens;
    left.costUsd -= own.costUsd;
    running++;
    return {
      limits: { ...own, wallTimeMs },
      capped: own.tokens < limits.tokens || own.costUsd < limits.costUsd || wallTimeMs < limits.wallTimeMs,
      settle(used) {
        left.tokens += own.tokens - used.tokens;
        // An unknown cost may have been all of it.
        left.costUsd += own.costUsd - (used.costUsd ?? own.costUsd);
        running--;
        for (const resolve of wake.splice(0)) resolve();
      },
    };
  }

  return {
    async take(limits) {
      for (;;) {
        if (timeLeftMs() <= 0)
          return { kind: 'wall_time', reason: `the batch's wall time of ${(total.wallTimeMs ?? 0) / 1000} s is over` };
        const short = PURSES.filter((purse) => left[purse] < limits[purse]);
        if (short.length === 0) return grant(limits);
        if (running === 0) {
          const empty = short.find((purse) => left[purse] < (purse === 'tokens' ? 1 : Number.EPSILON));
          if (empty === undefined) return grant(limits);
          const max = total[empty] ?? 0;
          return { kind: KINDS[empty], reason: `the batch's ${KINDS[empty]} are used up: ${max} was the limit` };
        }
        await change();
      }
    },
  };
}
