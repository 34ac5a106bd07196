import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HAS_LANDLOCK, IS_LINUX, IS_ROOT } from '../sandbox/fixture.ts';
import { USERS } from '../users.ts';
import type { Attempt } from './attempt.ts';
import { ATTEMPTS } from './attempts.ts';
import { createStand, type Stand } from './stand.ts';
import { tryAttempts, tryPlainly } from './try-attempts.ts';

const ALL = Object.values(ATTEMPTS).flat();
const TIERS = [
  { tier: 'bubblewrap', works: true },
  { tier: 'landlock', works: HAS_LANDLOCK },
] as const;
for (const { who, uid, works } of USERS) {
  const isRoot = uid === undefined && IS_ROOT;
  describe.skipIf(!IS_LINUX || !works)(`escapes, with belay run by ${who}`, () => {
    let stand: Stand;
    beforeEach(async () => {
      stand = await createStand(uid);
    });
    afterEach(() => stand.remove());

    it('work without a fence: each deed is one that can be done', async () => {
      const attempts = ALL.filter(({ control }) => control === 'anyone' || (isRoot && isRoots(control)));
      const { untried, breached, result } = await tryAttempts(stand, {
        by: 'run',
        sandbox: { mode: 'off' },
        uid,
        attempts,
      });
      expect(untried).toEqual([]);
      expect(breached).toEqual(attempts.map(({ id }) => id));
      expect(result.sandbox?.tier).toBe('off');
      const plain = ALL.filter(({ control }) => control === 'plain');
      expect(tryPlainly(stand, uid, plain)).toEqual(plain.map(({ id }) => id));
    });

    for (const { tier, works: isThere } of TIERS) {
      const open = ALL.filter((attempt) => tier === 'landlock' && isOpen(attempt, isRoot)).map(({ id }) => id);
      it.skipIf(!isThere)(
        `are all stopped by ${tier} when the agent tries them, but for those that docs/sandbox.md names`,
        async () => {
          const trial = { by: 'run', sandbox: { require: tier }, uid, attempts: ALL } as const;
          const { untried, breached, result } = await tryAttempts(stand, trial);
          expect({ untried, breached }).toEqual({ untried: [], breached: open });
          expect(result.sandbox?.tier).toBe(tier);
          expect(result.sandbox?.uid).not.toBe(0);
          expect(stand.look('../outside/mine')).toBe('644 mine\n');
        },
      );

      it.skipIf(!isThere)(
        `are all stopped by ${tier} when a check tries them, but for those that docs/sandbox.md names`,
        async () => {
          const attempts = ALL.filter(({ agentOnly }) => agentOnly !== true);
          const trial = { by: 'verify', sandbox: { require: tier }, uid, attempts } as const;
          const { untried, breached, result } = await tryAttempts(stand, trial);
          expect({ untried, breached }).toEqual({ untried: [], breached: open });
          expect(result.sandbox?.tier).toBe(tier);
        },
      );
    }
  });
}

function isRoots(control: Attempt['control']): boolean {
  return control === 'root' || (typeof control === 'object' && 'where' in control && control.where.some(existsSync));
}

function isOpen({ open }: Attempt, isRoot: boolean): boolean {
  return open?.landlock.for === 'everyone' || (open?.landlock.for === 'user' && !isRoot);
}
