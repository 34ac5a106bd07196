import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchLimits, createBatchBudget, type Grant } from '../../src/batch/batch-budget.ts';
import { BUILT_IN_POLICY_TEXT, loadPolicy } from '../../src/policy/index.ts';

const { policy } = await loadPolicy({ kind: 'text', bytes: Buffer.from(BUILT_IN_POLICY_TEXT), source: 'x' });
const limits = (own: Partial<typeof policy.limits>) => ({ ...policy.limits, ...own });
const NONE: BatchLimits = { costUsd: null, tokens: null, wallTimeMs: null };

const granted = async (taking: Promise<Grant | { kind: string }>): Promise<Grant> => {
  const grant = await taking;
  if ('kind' in grant) throw new Error(`refused: ${grant.kind}`);
  return grant;
};

describe("a batch's budget", () => {
  it('gives every run its own limits where there is no limit over the whole', async () => {
    const grant = await granted(createBatchBudget(NONE, () => 0).take(limits({ tokens: 70 })));
    expect([grant.limits.tokens, grant.capped]).toEqual([70, false]);
  });

  it('lets a run wait for what another gives back, and gives the last one what there is', async () => {
    const budget = createBatchBudget({ ...NONE, tokens: 100 }, () => 0);
    const first = await granted(budget.take(limits({ tokens: 80 })));
    const second = budget.take(limits({ tokens: 80 }));
    first.settle({ tokens: 50, costUsd: 0 });
    expect((await granted(second)).limits.tokens).toBe(50);
  });

  it('refuses with the name of the limit when it is used up, and when the time is over', async () => {
    let now = 0;
    const budget = createBatchBudget({ costUsd: 1, tokens: null, wallTimeMs: 1000 }, () => now);
    (await granted(budget.take(limits({ costUsd: 1 })))).settle({ tokens: 0, costUsd: null });
    expect(await budget.take(limits({ costUsd: 1 }))).toMatchObject({ kind: 'cost_usd' });
    now = 1000;
    expect(await budget.take(limits({ costUsd: 1 }))).toMatchObject({ kind: 'wall_time' });
  });

  it('is never overdrawn, whatever the runs use of what they were given', async () => {
    const run = fc.record({
      wanted: fc.integer({ min: 1, max: 50 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.array(run, { maxLength: 30 }), async (tokens, runs) => {
        const budget = createBatchBudget({ ...NONE, tokens }, () => 0);
        let spent = 0;
        let most = 0;
        let given = 0;
        await Promise.all(
          runs.map(async ({ wanted, share }) => {
            const grant = await budget.take(limits({ tokens: wanted }));
            if ('kind' in grant) return;
            given += grant.limits.tokens;
            most = Math.max(most, spent + given);
            await Promise.resolve();
            const used = Math.floor(grant.limits.tokens * share);
            spent += used;
            given -= grant.limits.tokens;
            grant.settle({ tokens: used, costUsd: 0 });
          }),
        );
        expect(most).toBeLessThanOrEqual(tokens);
      }),
    );
  });
});
