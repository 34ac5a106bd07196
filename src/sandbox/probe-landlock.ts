import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { type Identity, standInFor } from './command-user.ts';
import { findSystemProgram } from './find-system-program.ts';
import { loadLandlockAbi } from './landlock-launcher.ts';
import { LEAST_LANDLOCK_ABI, SIGNAL_SCOPE_ABI } from './landlock-rules.ts';
import { createLandlockSandbox } from './landlock-sandbox.ts';
import { createOutputPipes } from './output-pipes.ts';
import { type ProbeOptions, reachesOut } from './probe-options.ts';
import { judgeLandlockProbe, LANDLOCK_PROBE_SCRIPT } from './probe-script.ts';
import { runProbe } from './run-probe.ts';
import type { SandboxProbe, SandboxStatus } from './sandbox.ts';
import { createScratch } from './scratch.ts';
import { createSeccompFilter, isFilterArch } from './seccomp-filter.ts';
import { loadSystemView } from './system-view.ts';

const unavailable = (reason: string): SandboxProbe => ({ kind: 'unavailable', reason });

/** Finds Landlock and proves it like `probeSandbox` does bubblewrap. `before`: why the better fence does not work here. */
export async function probeLandlock(options: ProbeOptions, before: string | null): Promise<SandboxProbe> {
  const { policy, env, mounts, home } = options;
  const { arch } = process;
  if (reachesOut(options))
    return unavailable(
      'The landlock sandbox has no network, neither by a list of hosts nor to services or ports of this machine: use bubblewrap for that.',
    );
  if (!isFilterArch(arch)) return unavailable(`There is no system call filter for ${arch}: x64 and arm64 have one.`);
  const perl = findSystemProgram('perl');
  if (perl === null)
    return unavailable('The landlock sandbox needs perl, which is not installed: install `perl-base`.');
  if (!existsSync('/bin/bash')) return unavailable('bash is not installed: commands are bash scripts, install it.');
  const abi = await loadLandlockAbi(perl);
  if (abi < LEAST_LANDLOCK_ABI)
    return unavailable(
      abi === 0
        ? 'This kernel has no Landlock, or it is switched off: use Linux 6.2 or newer with `landlock` in its list of security modules.'
        : `This kernel's Landlock is too old (version ${abi}, ${LEAST_LANDLOCK_ABI} is needed): use Linux 6.2 or newer.`,
    );
  const workspace = mounts.find(({ access }) => access === 'write') ?? mounts[0];
  const become = process.geteuid?.() === 0 ? standInFor(statSync(workspace?.from ?? home)) : null;
  if (become === null && process.geteuid?.() === 0)
    return unavailable('The landlock sandbox found no spare user id for the commands of root: run belay as a user.');
  const scratch = createScratch();
  const canary = scratch.file('canary', 'untouched');
  chmodSync(canary, 0o666);
  const { memoryBytes, processes, fileSizeBytes, diskBytes, outputBytes } = policy;
  const bounds = { memoryBytes, processes, fileSizeBytes, diskBytes, outputBytes };
  const sandbox = createLandlockSandbox(
    {
      perl,
      abi,
      become,
      view: loadSystemView({ env, readable: policy.readable, nodePath: process.execPath }),
      bounds,
      readOnly: policy.mode === 'read-only',
      scratch,
      filterFile: scratch.file('filter', createSeccompFilter(arch, 'shared')),
      pipes: createOutputPipes(scratch.dir),
    },
    statusOf({ abi, become, before }),
  );
  const answer = await runProbe(sandbox, options, {
    script: LANDLOCK_PROBE_SCRIPT,
    env: { CANARY: canary },
    network: { mode: 'none' },
  });
  const fault =
    answer.kind === 'answered'
      ? judgeLandlockProbe(answer.output, { bounds, scopesSignals: abi >= SIGNAL_SCOPE_ABI || become !== null })
      : null;
  const problem =
    fault === null ? (answer.kind === 'failed' ? answer.reason : null) : `Landlock does not hold here: ${fault}.`;
  if (problem === null && readFileSync(canary, 'utf8') === 'untouched') return { kind: 'works', sandbox };
  await sandbox.close();
  return unavailable(problem ?? 'Landlock does not hold here: a command could write outside.');
}

interface Found {
  abi: number;
  become: Identity | null;
  before: string | null;
}

function statusOf({ abi, become, before }: Found): SandboxStatus {
  const sentences = [
    `Landlock (version ${abi}) and a system call filter, without namespaces: other processes' names can be seen${become === null ? ', and the modes and times of the user’s own files outside can be changed' : ''}.`,
    ...(abi >= SIGNAL_SCOPE_ABI || become !== null ? [] : ['Before Linux 6.12, a command can also end belay itself.']),
    ...(become === null ? [] : [`belay is root, so commands run as uid ${become.uid}.`]),
    ...(before === null ? [] : [`bubblewrap, which holds more, does not work: ${before}`]),
  ];
  return {
    tier: 'landlock',
    reason: sentences.join(' '),
    network: 'none',
    uid: become?.uid ?? process.geteuid?.() ?? null,
  };
}
