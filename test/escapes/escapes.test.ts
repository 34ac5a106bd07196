import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_LINUX, IS_ROOT, OTHER_UID } from '../sandbox/fixture.ts';
import { CLI } from '../scenario.ts';
import { ATTEMPTS } from './attempts.ts';
import { createStand, type Stand } from './stand.ts';
import { tryAttempts } from './try-attempts.ts';

const ALL = Object.values(ATTEMPTS).flat();
const canBecome = IS_ROOT && spawnSync('setpriv', ['--reuid', String(OTHER_UID), 'test', '-r', CLI]).status === 0;
const WHO = [
  { who: 'whoever runs the tests', uid: undefined, works: true },
  { who: 'an unprivileged user', uid: OTHER_UID, works: canBecome },
];

for (const { who, uid, works } of WHO) {
  const isRoot = uid === undefined && IS_ROOT;
  const note = works ? '' : ' (skipped: needs root, and a build that others may read)';
  describe.skipIf(!IS_LINUX || !works)(`escapes, with belay run by ${who}${note}`, () => {
    let stand: Stand;
    beforeEach(async () => {
      stand = await createStand(uid);
    });
    afterEach(() => stand.remove());

    it('work without a fence: each deed is one that can be done', async () => {
      const attempts = ALL.filter(({ control }) => control === 'anyone' || (control === 'root' && isRoot));
      const { untried, breached, result } = await tryAttempts(stand, {
        by: 'run',
        sandbox: { mode: 'off' },
        uid,
        attempts,
      });
      expect(untried).toEqual([]);
      expect(breached).toEqual(attempts.map(({ id }) => id));
      expect(result.sandbox?.tier).toBe('off');
    });

    it('are all stopped by bubblewrap when the agent tries them', async () => {
      const trial = { by: 'run', sandbox: { require: 'bubblewrap' }, uid, attempts: ALL } as const;
      const { untried, breached, result } = await tryAttempts(stand, trial);
      expect({ untried, breached }).toEqual({ untried: [], breached: [] });
      expect(result.sandbox?.tier).toBe('bubblewrap');
      expect(result.sandbox?.uid).not.toBe(0);
      expect(stand.look('../outside/mine')).toBe('644 mine\n');
    });

    it('are all stopped by bubblewrap when a check tries them', async () => {
      const attempts = ALL.filter(({ agentOnly }) => agentOnly !== true);
      const trial = { by: 'verify', sandbox: { require: 'bubblewrap' }, uid, attempts } as const;
      const { untried, breached, result } = await tryAttempts(stand, trial);
      expect({ untried, breached }).toEqual({ untried: [], breached: [] });
      expect(result.sandbox?.tier).toBe('bubblewrap');
    });
  });
}
