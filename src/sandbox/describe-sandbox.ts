import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { SandboxPolicy } from '../policy/index.ts';
import { findBubblewrap } from './find-bubblewrap.ts';
import { findSystemProgram } from './find-system-program.ts';
import { loadLandlockAbi } from './landlock-launcher.ts';
import { LEAST_LANDLOCK_ABI } from './landlock-rules.ts';
import { describeCores } from './limit-dumps.ts';
import { probeSandbox } from './probe-sandbox.ts';
import type { SandboxTier } from './sandbox.ts';
import { isFilterArch } from './seccomp-filter.ts';

/** One thing about this machine that the sandbox needs or would like. */
export interface SandboxFact {
  name: string;
  works: boolean;
  /** Without it, no command runs under `sandbox.require: any`. */
  required: boolean;
  says: string;
  /** What to do about it; null when it works. */
  fix: string | null;
}

interface DescribeOptions {
  /** PATH and HOME of the harness. */
  env: Readonly<Record<string, string | undefined>>;
}

const INSTALL =
  'install it with `sudo apt-get install -y bubblewrap` (GitHub-hosted runners do not have it), `dnf install bubblewrap` or `apk add bubblewrap`';
const ALLOW_NAMESPACES =
  'on Ubuntu 24.04, GitHub-hosted runners included, run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or load an AppArmor profile for bwrap that says `userns,`';

/** Facts for `belay doctor`: what the sandbox finds here, the real probe first, then what explains it. */
export async function describeSandbox({ env }: DescribeOptions): Promise<readonly SandboxFact[]> {
  if (process.platform !== 'linux') {
    return [(await probeFact(env)).fact];
  }
  const { PATH: searchPath = '' } = env;
  const bwrap = findBubblewrap(searchPath, []);
  const { fact, tier } = await probeFact(env);
  // Landlock does without them.
  const isNeeded = tier !== 'landlock';
  return [
    fact,
    { ...(await programFact(bwrap)), required: isNeeded },
    ...(bwrap === null ? [] : [await mountPointFact(bwrap)]),
    ...kernelFacts().map((one) => (one.required ? { ...one, required: isNeeded } : one)),
    await landlockFact(),
    ...(isHostedRunner(env) ? [hostedRunnerFact(tier)] : []),
    await networkFact(env),
    coresFact(),
    {
      name: 'system call filter',
      works: isFilterArch(process.arch),
      required: true,
      says: process.arch,
      fix: isFilterArch(process.arch) ? null : 'use a machine with x64 or arm64',
    },
  ];
}

const HOSTED_RUNNER_RECIPE = [
  'in a step before this one, run `sudo apt-get update && sudo apt-get install -y bubblewrap`',
  'then either `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, which holds for the whole machine until it is thrown away',
  "or, for bwrap alone, `printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`",
].join('; ');

const PROBE_POLICY: SandboxPolicy = {
  mode: 'workspace-write',
  require: 'any',
  network: { mode: 'none' },
  env: { pass: [], set: {} },
  readable: [],
  services: [],
  home: 'private',
  memoryBytes: 4 * 1024 ** 3,
  processes: 512,
  fileSizeBytes: 1024 ** 3,
  diskBytes: 16 * 1024 ** 3,
  outputBytes: 4 * 1024 ** 3,
};

async function probeFact(env: DescribeOptions['env']): Promise<{ fact: SandboxFact; tier: SandboxTier | null }> {
  return withFolder(async (folder) => {
    const workspace = path.join(folder, 'workspace');
    const home = path.join(folder, 'home');
    for (const dir of [workspace, home]) mkdirSync(dir);
    const probe = await probeSandbox({
      policy: PROBE_POLICY,
      mounts: [{ from: workspace, to: workspace, access: 'write' }],
      workdir: workspace,
      home,
      env,
      signal: new AbortController().signal,
    });
    const about = { name: 'works', required: true };
    if (probe.kind === 'unavailable')
      return {
        fact: { ...about, works: false, says: 'commands cannot be fenced here', fix: probe.reason },
        tier: null,
      };
    await probe.sandbox.close();
    const { tier, reason } = probe.sandbox.status;
    return { fact: { ...about, works: true, says: `${tier}: ${reason}`, fix: null }, tier };
  });
}

async function programFact(bwrap: string | null): Promise<SandboxFact> {
  const about = { name: 'bubblewrap', required: true };
  if (bwrap === null) return { ...about, works: false, says: 'not installed', fix: INSTALL };
  const { stdout } = await run(bwrap, ['--version']);
  const version = /(\d+)\.(\d+)/.exec(stdout);
  const works = version !== null && (Number(version[1]) > 0 || Number(version[2]) >= 8);
  return {
    ...about,
    works,
    says: `${stdout.trim() || 'no version'} at ${bwrap}`,
    fix: works ? null : 'update to 0.8 or newer',
  };
}

/**
 * Does this bubblewrap follow a link in the workspace out of it when it makes a mount point (CVE-2026-87766)? Tried, because fixed
 * builds keep their version. No requirement: belay never lets it make one there.
 */
async function mountPointFact(bwrap: string): Promise<SandboxFact> {
  return withFolder(async (folder) => {
    const [workspace, outside] = [path.join(folder, 'workspace'), path.join(folder, 'outside')];
    for (const dir of [workspace, outside]) mkdirSync(dir);
    symlinkSync(`/oldroot${outside}`, path.join(workspace, 'link'));
    await run(bwrap, [
      ...[
        '--unshare-user',
        '--unshare-pid',
        '--die-with-parent',
        '--ro-bind',
        '/',
        '/',
        '--bind',
        workspace,
        workspace,
      ],
      ...['--ro-bind', '/dev/null', path.join(workspace, 'link/planted'), '/bin/true'],
    ]);
    const works = !existsSync(path.join(outside, 'planted'));
    return {
      name: 'mount points',
      works,
      required: false,
      says: works
        ? 'bubblewrap does not follow links when it makes one'
        : 'bubblewrap follows links when it makes one (CVE-2026-87766); belay never asks it to in the workspace',
      fix: works ? null : 'update bubblewrap to 0.12 or to a patched build of your distribution',
    };
  });
}

async function landlockFact(): Promise<SandboxFact> {
  const about = { name: 'landlock', required: false };
  const perl = findSystemProgram('perl');
  if (perl === null) return { ...about, works: false, says: 'perl is not installed', fix: 'install `perl-base`' };
  const abi = await loadLandlockAbi(perl);
  const works = abi >= LEAST_LANDLOCK_ABI;
  return {
    ...about,
    works,
    says: abi === 0 ? 'not in this kernel' : `version ${abi}`,
    fix: works ? null : 'use Linux 6.2 or newer, with `landlock` in its list of security modules',
  };
}

/** As GitHub's own machines say of themselves. */
function isHostedRunner({ GITHUB_ACTIONS: actions, RUNNER_ENVIRONMENT: kind }: DescribeOptions['env']): boolean {
  return actions === 'true' && kind === 'github-hosted';
}

function hostedRunnerFact(tier: SandboxTier | null): SandboxFact {
  const works = tier === 'bubblewrap';
  return {
    name: 'GitHub-hosted runner',
    works,
    required: false,
    says: works
      ? 'set up for bubblewrap'
      : 'comes without bubblewrap, and its AppArmor keeps user namespaces from programs without a profile',
    fix: works ? null : HOSTED_RUNNER_RECIPE,
  };
}

/** What `network.allow`, `services` and `sandbox.services` need. */
async function networkFact(env: DescribeOptions['env']): Promise<SandboxFact> {
  const { bridgeFault } = await import('./egress/bridges.ts');
  const fault = await bridgeFault(env);
  return {
    name: 'allowed hosts, ports and services',
    works: fault === null,
    required: false,
    says: fault === null ? 'commands can be led to what a policy allows' : 'commands cannot be led out of the sandbox',
    fix: fault,
  };
}

/** Of this process, in which the probe has run. */
function coresFact(): SandboxFact {
  const { works, says } = describeCores();
  const fix =
    'install `perl-base` or util-linux (`prlimit`), and let `core_pattern` name a file or a program, no socket';
  return { name: 'core dumps', works, required: false, says, fix: works ? null : fix };
}

function kernelFacts(): SandboxFact[] {
  const facts: SandboxFact[] = [];
  const most = sysctl('user/max_user_namespaces');
  if (most !== null) {
    const works = Number(most) > 0;
    facts.push({
      name: 'user namespaces',
      works,
      required: true,
      says: `at most ${most}`,
      fix: works ? null : 'raise `user.max_user_namespaces` with sysctl',
    });
  }
  const clone = sysctl('kernel/unprivileged_userns_clone');
  if (clone === '0') {
    facts.push({
      name: 'unprivileged user namespaces',
      works: false,
      required: false,
      says: 'switched off',
      fix: 'run `sudo sysctl -w kernel.unprivileged_userns_clone=1`',
    });
  }
  const restricted = sysctl('kernel/apparmor_restrict_unprivileged_userns');
  if (restricted !== null) {
    const works = restricted === '0';
    // A profile for bwrap lifts it for bwrap alone: the probe knows.
    facts.push({
      name: 'AppArmor',
      works,
      required: false,
      says: works ? 'does not restrict user namespaces' : 'restricts user namespaces to programs with a profile',
      fix: works ? null : ALLOW_NAMESPACES,
    });
  }
  return facts;
}

function sysctl(name: string): string | null {
  const file = `/proc/sys/${name}`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'belay-doctor-')));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A failing program is an answer here, not an error. */
async function run(file: string, args: readonly string[]): Promise<{ stdout: string }> {
  try {
    return await promisify(execFile)(file, args, { env: { PATH: '/usr/bin:/bin' }, timeout: 5_000 });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { stdout: '' };
    throw error;
  }
}
