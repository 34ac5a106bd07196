import { describe, expect, it } from 'vitest';
import { stateFolder } from '../../src/thread/index.ts';

describe('stateFolder', () => {
  it('follows BELAY_HOME, then XDG_STATE_HOME, then the home', () => {
    const env = { BELAY_HOME: '/b', XDG_STATE_HOME: '/x', HOME: '/h' };
    expect([
      stateFolder(env),
      stateFolder({ ...env, BELAY_HOME: '' }),
      stateFolder({ HOME: '/h', XDG_STATE_HOME: 'relative' }),
    ]).toEqual(['/b', '/x/belay', '/h/.local/state/belay']);
  });
});
