import { readFileSync, realpathSync } from 'node:fs';
import { bubblewrapArgs } from './bubblewrap-args.ts';
import type { BubblewrapSetup } from './bubblewrap-setup.ts';
import type { CommandBridge } from './egress/bridges.ts';
import { withProxyVariables } from './egress/proxy-variables.ts';
import { type LaunchPlan, planLaunch } from './launch-command.ts';
import { type MountStep, planMounts } from './mount-plan.ts';
import type { Mount, SandboxedCommand } from './sandbox.ts';
import type { StageSource } from './stage-launcher.ts';
import { exactStatOrNull } from './stat-or-null.ts';

/** How bubblewrap is to be started for a command. */
export interface FencePlan {
  /** Equal for two plans exactly where the same fence comes of both: by the arguments, and by what lies at each path of them now. */
  key: string;
  /** Arguments of bubblewrap, without the program that runs inside. */
  args: readonly string[];
  /** Host folders that can be written. */
  writable: readonly string[];
  /** Equal for two plans exactly where what is staged for one serves the other; null where nothing is, or nothing could enter it. */
  stageKey: string | null;
  launch: LaunchPlan['launch'];
}

export interface FenceParts {
  setup: BubblewrapSetup;
  command: SandboxedCommand;
  bridge: CommandBridge | null;
  /** Steps of the sandbox's own. */
  steps: readonly MountStep[];
  adopt: ((folder: string, home: string) => void) | null;
}

export function planFence({ setup, command, bridge, steps, adopt }: FenceParts): FencePlan | { refusal: string } {
  const plan = planMounts(setup.readOnly ? command.mounts.map(withoutWriting) : command.mounts);
  if (plan.kind === 'refused') return { refusal: plan.reason };
  const home = realpathSync(command.home);
  const sources: StageSource[] = [
    { path: home, access: 'write' },
    { path: setup.scratch.dir, access: 'read' },
    ...setup.view.extras.map(({ from }) => ({ path: from, access: 'read' as const })),
    ...plan.steps.flatMap((step) => (step.kind === 'hidden' ? [] : [{ path: step.from, access: step.kind }])),
  ];
  const writable = sources.filter(({ access }) => access === 'write').map(({ path }) => path);
  if (adopt !== null) for (const folder of writable) adopt(folder, home);
  const { user, bwrap } = setup;
  const { staged, locate, launch } = planLaunch({ user, bwrap, sources });
  const bare = launch([], null);
  const args = bubblewrapArgs({
    view: setup.view,
    steps: [...plan.steps, ...(bridge?.steps ?? []), ...steps],
    home,
    emptyFile: setup.scratch.emptyFile,
    overlays: { ...setup.overlays, ...bridge?.overlays },
    masked: setup.masked,
    env: withProxyVariables(command.env, bridge?.env ?? {}),
    workdir: command.workdir,
    bounds: setup.bounds,
    locate,
  });
  const paths = new Set([
    ...sources.map(({ path }) => path),
    ...command.mounts.flatMap(({ from, to }) => [from, to]),
    ...[...setup.view.extras.map(({ to }) => to), ...setup.view.masked, ...setup.masked.map(({ path }) => path)],
    ...Object.keys(setup.overlays),
  ]);
  const key = JSON.stringify([bare.args, args, [...paths].map(identityOf)]);
  const isKept = user.kind === 'staged' && user.nsenter !== null;
  // With the machine's mounts: what is staged has those that were there then.
  const stageKey = isKept
    ? JSON.stringify([bare.args, staged?.map(identityOf), readFileSync('/proc/self/mountinfo', 'latin1')])
    : null;
  return { key, args, writable, stageKey, launch };
}

/** `sandbox.mode: read-only` holds for every command, whatever its mounts say; HOME and /tmp stay writable. */
function withoutWriting(mount: Mount): Mount {
  return mount.access === 'write' ? { ...mount, access: 'read' } : mount;
}

/**
 * What lies at a path, as a source of a mount or under one: the kernel takes a mount away with the file or folder below it, and what
 * comes in its place is not covered. The number of a removed file is given to the next one, the time of its birth is not.
 */
function identityOf(path: string): string | null {
  const found = exactStatOrNull(path);
  if (found === null) return null;
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  // Not every file system keeps births: then any change is taken for another file.
  return `${dev}:${ino}:${birthtimeNs > 0n ? birthtimeNs : ctimeNs}`;
}
