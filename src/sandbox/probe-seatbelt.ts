import { chmodSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { type ProbeOptions, reachesOut } from './probe-options.ts';
import { judgeSeatbeltProbe, SEATBELT_PROBE_SCRIPT } from './probe-script.ts';
import { runProbe } from './run-probe.ts';
import type { SandboxProbe } from './sandbox.ts';
import { createScratch } from './scratch.ts';
import { renderSeatbeltProfile } from './seatbelt-profile.ts';
import { createUnsafeSandbox } from './unsafe-sandbox.ts';

/** Never the first of PATH: a repository could bring one of its own. */
const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

const unavailable = (reason: string): SandboxProbe => ({ kind: 'unavailable', reason });

/** Finds Seatbelt on macOS and proves it like `probeSandbox` does bubblewrap. Written from its documentation: no Mac has run it yet. */
export async function probeSeatbelt(options: ProbeOptions): Promise<SandboxProbe> {
  const { policy, env } = options;
  if (reachesOut(options))
    return unavailable('The seatbelt sandbox has no network in this version: use bubblewrap on Linux for that.');
  if (!existsSync(SANDBOX_EXEC)) return unavailable(`${SANDBOX_EXEC} is missing, which macOS brings.`);
  const scratch = createScratch();
  const canary = scratch.file('canary', 'untouched');
  chmodSync(canary, 0o666);
  const uid = process.geteuid?.() ?? null;
  const sandbox = createUnsafeSandbox({
    status: {
      tier: 'seatbelt',
      reason: 'Seatbelt works here; other processes can be seen, and belay was not tested on this system.',
      network: 'none',
      uid,
    },
    env,
    bounds: policy,
    fence: (command, temporary) => [
      SANDBOX_EXEC,
      '-p',
      renderSeatbeltProfile({
        mounts: command.mounts.map((mount) =>
          policy.mode === 'read-only' && mount.access === 'write' ? { ...mount, access: 'read' } : mount,
        ),
        home: realpathSync(command.home),
        temporary,
        readable: policy.readable,
        proxyPort: null,
      }),
    ],
  });
  const answer = await runProbe(sandbox, options, {
    script: SEATBELT_PROBE_SCRIPT,
    env: { CANARY: canary },
    network: { mode: 'none' },
  });
  const problem = answer.kind === 'failed' ? answer.reason : judgeSeatbeltProbe(answer.output);
  const isUntouched = readFileSync(canary, 'utf8') === 'untouched';
  scratch.remove();
  if (problem === null && isUntouched) return { kind: 'works', sandbox };
  await sandbox.close();
  return unavailable(`Seatbelt does not hold here: ${problem ?? 'a command could write outside'}.`);
}
