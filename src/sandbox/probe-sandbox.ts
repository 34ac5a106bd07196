import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import type { SandboxPolicy } from '../policy/index.ts';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { type CgroupHome, findCgroupHome } from './cgroup.ts';
import { type CommandUser, commandUsers } from './command-user.ts';
import { bridgeFault } from './egress/bridges.ts';
import { PROXY_PORT } from './egress/proxy-variables.ts';
import { findBubblewrap } from './find-bubblewrap.ts';
import { findSystemProgram } from './find-system-program.ts';
import { limitOwnCores } from './limit-dumps.ts';
import { planMounts } from './mount-plan.ts';
import { createOutputPipes } from './output-pipes.ts';
import { type ProbeOptions, reachesOut } from './probe-options.ts';
import { judgeProbe, PROBE_SCRIPT } from './probe-script.ts';
import { findRootOnly } from './root-only.ts';
import { runProbe } from './run-probe.ts';
import type { Sandbox, SandboxProbe, SandboxStatus } from './sandbox.ts';
import { accountOverlays, createScratch } from './scratch.ts';
import { createSeccompFilter, type FilterArch, isFilterArch } from './seccomp-filter.ts';
import { loadSystemView, type SystemView } from './system-view.ts';
import { createUnsafeSandbox } from './unsafe-sandbox.ts';

export const NOT_INSTALLED =
  'bubblewrap is not installed: install it (`sudo apt-get install -y bubblewrap`, `dnf install bubblewrap`, `apk add bubblewrap`), or say `sandbox.require: external` if something fences belay.';

/**
 * Finds the sandbox that the policy demands and proves it with the arguments of a real command: a script inside reports what it can
 * do, and a canary outside must stay as it is. Never settles for less than the policy says; never throws for what the machine lacks.
 */
export async function probeSandbox(options: ProbeOptions): Promise<SandboxProbe> {
  const { mode, require: demanded } = options.policy;
  if (mode === 'off') return unfenced(options, { tier: 'off', reason: 'The policy says `sandbox.mode: off`.' });
  if (demanded === 'external')
    return unfenced(options, {
      tier: 'external',
      reason: 'The policy asserts a sandbox around belay (`sandbox.require: external`); none of its own is in force.',
    });
  const refusal = platformRefusal(process.platform, demanded);
  if (refusal !== null) return unavailable(refusal);
  if (process.platform === 'darwin') return (await import('./probe-seatbelt.ts')).probeSeatbelt(options);
  if (demanded === 'landlock') return (await import('./probe-landlock.ts')).probeLandlock(options, null);
  const first = await probeBubblewrap(options);
  if (first.kind === 'works' || demanded === 'bubblewrap' || options.signal.aborted) return first;
  // A step down that the policy allows (`any`), and that the status tells.
  const second = await (await import('./probe-landlock.ts')).probeLandlock(options, first.reason);
  return second.kind === 'works' ? second : unavailable(`${first.reason} In its place: ${second.reason}`);
}

const LINUX_OR_ASSERT =
  'run belay in a Linux machine, virtual machine or container, or say `sandbox.require: external` if something fences it';

/** Why a platform cannot have the fence demanded; null when it is worth a try. */
export function platformRefusal(platform: NodeJS.Platform, demanded: SandboxPolicy['require']): string | null {
  if (platform === 'linux')
    return demanded === 'seatbelt'
      ? 'The seatbelt sandbox is one of macOS: use `bubblewrap` or `landlock` on Linux.'
      : null;
  if (platform === 'darwin')
    return demanded === 'any' || demanded === 'seatbelt'
      ? null
      : `The ${demanded} sandbox is one of Linux: use \`seatbelt\` on macOS, or ${LINUX_OR_ASSERT}.`;
  if (platform === 'win32')
    return `Windows has nothing that keeps a program of the user's to one folder without changing the rights of the user's other files: ${LINUX_OR_ASSERT} (WSL 2 is such a machine).`;
  return `There is no sandbox for ${platform} in this version: ${LINUX_OR_ASSERT}.`;
}

function unavailable(reason: string): SandboxProbe {
  return { kind: 'unavailable', reason };
}

async function probeBubblewrap(options: ProbeOptions): Promise<SandboxProbe> {
  const { policy, env, mounts, home } = options;
  const { arch } = process;
  if (!isFilterArch(arch)) return unavailable(`There is no system call filter for ${arch}: x64 and arm64 have one.`);
  const plan = planMounts(mounts);
  if (plan.kind === 'refused') return unavailable(plan.reason);
  const view = loadSystemView({ env, readable: policy.readable, nodePath: process.execPath });
  // The repository's own folders: toolchains that the policy makes readable are not among them.
  const own = mounts.filter(({ from }) => !view.extras.some((extra) => extra.from === from));
  const { PATH: searchPath = '' } = env;
  const bwrap = findBubblewrap(
    searchPath,
    own.map(({ from }) => from),
  );
  if (bwrap === null) return unavailable(NOT_INSTALLED);
  if (!existsSync('/bin/bash')) return unavailable('bash is not installed: commands are bash scripts, install it.');
  const blocked = reachesOut(options) ? await bridgeFault(env) : null;
  if (blocked !== null) return unavailable(blocked);
  const workspace = own.find(({ access }) => access === 'write') ?? own[0];
  const reasons: string[] = [];
  try {
    for await (const user of commandUsers(workspace?.from ?? home, bwrap)) {
      for (const cgroups of cgroupsFor(user)) {
        const outcome = await tryUser(options, { user, bwrap, arch, view, cgroups, before: reasons[0] ?? null });
        if (outcome.kind === 'works' || options.signal.aborted) return outcome;
        reasons.push(outcome.reason);
      }
    }
  } catch (error) {
    if (!(error instanceof Error) || codeOf(error) === null) throw error;
    reasons.push(`The sandbox could not be prepared: ${error.message}.`);
  }
  return unavailable(reasons[0] ?? 'No way was found to run commands in a sandbox.');
}

/**
 * Control groups to try, in order. Joining one waits for the kernel (20 ms and more), so root's commands, which the limits of the process
 * and the watch hold, do without; a user who was given groups of its own (version 2) asked for them.
 */
function cgroupsFor(user: CommandUser): readonly (CgroupHome | null)[] {
  const home = findCgroupHome();
  if (user.kind === 'root') return [home];
  return user.kind === 'harness' && home?.version === 2 ? [home, null] : [null];
}

interface Attempt {
  cgroups: CgroupHome | null;
  user: CommandUser;
  bwrap: string;
  arch: FilterArch;
  view: SystemView;
  /** Why a better way did not work. */
  before: string | null;
}

async function tryUser(
  options: ProbeOptions,
  { user, bwrap, arch, view, cgroups, before }: Attempt,
): Promise<SandboxProbe> {
  const { policy } = options;
  const scratch = createScratch();
  const { memoryBytes, processes, fileSizeBytes, diskBytes, outputBytes } = policy;
  const status: SandboxStatus = {
    tier: 'bubblewrap',
    reason: [
      describeUser(user, cgroups?.pids != null),
      ...(before === null ? [] : [`A better way failed: ${before}`]),
    ].join(' '),
    network: policy.network.mode === 'none' ? 'none' : `allow: ${policy.network.hosts.join(', ')}`,
    uid: user.uid,
  };
  const sandbox = createBubblewrapSandbox(
    {
      bwrap,
      user,
      view,
      overlays: accountOverlays(scratch, user),
      masked: user.kind === 'root' ? findRootOnly('/etc') : [],
      bounds: { memoryBytes, processes, fileSizeBytes, diskBytes, outputBytes },
      readOnly: policy.mode === 'read-only',
      given: options.mounts.map(({ from }) => from),
      scratch,
      filterFile: scratch.file('filter', createSeccompFilter(arch)),
      pipes: createOutputPipes(scratch.dir),
      cgroups,
      bridge: { perl: findSystemProgram('perl'), hostPorts: policy.services, env: options.env },
    },
    status,
  );
  const canary = scratch.file('canary', 'untouched');
  chmodSync(canary, 0o666);
  const problem = await probe(sandbox, options, canary);
  if (problem === null && readFileSync(canary, 'utf8') === 'untouched') return { kind: 'works', sandbox };
  await sandbox.close();
  return unavailable(problem ?? 'bubblewrap does not hold here: a command could write outside.');
}

async function probe(sandbox: Sandbox, options: ProbeOptions, canary: string): Promise<string | null> {
  const leadsOut = reachesOut(options);
  const answer = await runProbe(sandbox, options, {
    script: PROBE_SCRIPT,
    env: { CANARY: canary, ...(leadsOut ? { PROXY_PORT: String(PROXY_PORT) } : {}) },
    network: leadsOut ? { mode: 'allow', hosts: [] } : { mode: 'none' },
  });
  if (answer.kind === 'failed') return answer.reason;
  const fault = judgeProbe(answer.output, options.policy, leadsOut);
  return fault === null ? null : `bubblewrap does not hold here: ${fault}.`;
}

function describeUser(user: CommandUser, boundsProcesses: boolean): string {
  switch (user.kind) {
    case 'harness':
      return 'bubblewrap works here.';
    case 'staged':
    case 'setpriv':
      return `bubblewrap works here; belay is root, so commands run as uid ${user.uid}.`;
    case 'root':
      return `bubblewrap works here, but only as uid 0 without capabilities: files of root can be read where they are visible${boundsProcesses ? '' : ', and the number of processes is not bounded'}.`;
  }
}

function unfenced({ env, policy }: ProbeOptions, why: Pick<SandboxStatus, 'tier' | 'reason'>): SandboxProbe {
  limitOwnCores();
  const status = { ...why, network: 'unrestricted', uid: process.geteuid?.() ?? null };
  return { kind: 'works', sandbox: createUnsafeSandbox({ status, env, bounds: policy }) };
}
