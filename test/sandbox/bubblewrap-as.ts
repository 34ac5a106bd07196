import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap-sandbox.ts';
import { findCgroupHome } from '../../src/sandbox/cgroup.ts';
import type { CommandUser } from '../../src/sandbox/command-user.ts';
import { findBubblewrap } from '../../src/sandbox/find-bubblewrap.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { createOutputPipes } from '../../src/sandbox/output-pipes.ts';
import { findRootOnly } from '../../src/sandbox/root-only.ts';
import { createScratch } from '../../src/sandbox/scratch.ts';
import { createSeccompFilter, isFilterArch } from '../../src/sandbox/seccomp-filter.ts';
import { loadSystemView } from '../../src/sandbox/system-view.ts';
import { MIB } from './fixture.ts';

/** The ways that the probe comes to only where better ones do not work. */
export function openAs(user: CommandUser, given: readonly string[] = []): Sandbox {
  const bwrap = findBubblewrap(process.env['PATH'] ?? '', []);
  const { arch } = process;
  if (bwrap === null || !isFilterArch(arch)) throw new Error('no bubblewrap');
  const scratch = createScratch();
  return createBubblewrapSandbox(
    {
      bwrap,
      user,
      view: loadSystemView({ env: process.env, readable: [], nodePath: process.execPath }),
      overlays: {},
      masked: user.kind === 'root' ? findRootOnly('/etc') : [],
      bounds: {
        memoryBytes: 512 * MIB,
        processes: 40,
        fileSizeBytes: 64 * MIB,
        diskBytes: 2 ** 34,
        outputBytes: 2 ** 32,
      },
      readOnly: false,
      given,
      scratch,
      filterFile: scratch.file('filter', createSeccompFilter(arch)),
      pipes: createOutputPipes(scratch.dir),
      cgroups: user.kind === 'root' ? findCgroupHome() : null,
      bridge: { perl: null, hostPorts: [], env: {} },
    },
    { tier: 'bubblewrap', reason: '', network: 'none', uid: user.uid },
  );
}
