import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeenIds } from '../../src/thread/seen-ids.ts';

describe('ids that were seen', () => {
  it('are those of a set, whatever they look like', () => {
    const id = fc.oneof(
      fc.integer({ min: 0, max: 20_000 }).map((n) => `item_${n}`),
      fc.constantFrom('item_00', 'item_0', 'item_', 'item_-1', 'item_1e3', 'item_1000', 'item_999999999999999', ''),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(id), fc.array(id), (added, asked) => {
        const set = new Set(added);
        const seen = createSeenIds();
        for (const one of added) seen.add(one);
        for (const one of [...added, ...asked]) expect(seen.has(one)).toBe(set.has(one));
      }),
    );
  });

  it('take a bit each of belay’s own, and of others no more than a bounded number', () => {
    const seen = createSeenIds();
    const before = process.memoryUsage();
    for (let n = 0; n < 1_000_000; n++) seen.add(`item_${n}`);
    for (let n = 0; n < 110_000; n++) seen.add(`${n}`);
    for (let n = 0; n < 30_000; n++) seen.add(`item_${(n + 1) * 1_000_000_000}`);
    expect([seen.has('item_999999'), seen.has('item_1000000'), seen.has('99999'), seen.has('100000')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(20_000_000);
  });
});
