import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createFolders,
  type Folders,
  HAS_LANDLOCK,
  IS_ROOT,
  openIn,
  processesWith,
  runIn,
  sleepMark,
} from './fixture.ts';

let folders: Folders;
beforeEach(() => {
  folders = createFolders();
});
afterEach(() => folders.remove());

describe.skipIf(!HAS_LANDLOCK || !IS_ROOT)('the bound of processes of a command that runs as a user of its own', () => {
  // Room for what other tests start as that user meanwhile; without the others counted, 20 and 40 are too many.
  it('is its own, whatever else that user runs', { timeout: 30_000 }, async () => {
    const sandbox = await openIn(folders, { policy: { require: 'landlock', processes: 60 } });
    const uid = Number((await runIn(sandbox, folders, 'id -u')).output);
    const mark = sleepMark();
    const others = spawn(
      'setpriv',
      [`--reuid=${uid}`, '--clear-groups', 'bash', '-c', `for i in {1..20}; do sleep ${mark} & done; wait`],
      {
        detached: true,
        stdio: 'ignore',
      },
    );
    try {
      while (processesWith(mark).length < 20) await new Promise(setImmediate);
      const crowd = `for i in {1..40}; do sleep ${mark} & done; echo $(jobs -p | wc -l); kill $(jobs -p)`;
      expect(await runIn(sandbox, folders, crowd)).toMatchObject({ reason: 'exited', exitCode: 0, output: '40\n' });
      const bomb = `for (;;) { defined(my $pid = fork) or select(undef, undef, undef, 0.1); select(undef, undef, undef, 0.02) } # ${mark}`;
      const end = await runIn(sandbox, folders, `perl -e '${bomb}'`, { timeoutMs: 20_000 });
      expect(end).toMatchObject({ reason: 'killed', detail: expect.stringContaining('sandbox.processes') });
    } finally {
      process.kill(-(others.pid ?? 0), 'SIGKILL');
      await once(others, 'exit');
      await sandbox.close();
    }
  });
});
