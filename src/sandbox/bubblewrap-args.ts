import { AWAIT_SCRIPT } from './awaited-script.ts';
import { type Bounds, CLOSE_DESCRIPTORS, dataKibOf, fileKibOf } from './bounds.ts';
import type { MountStep } from './mount-plan.ts';
import type { SystemView } from './system-view.ts';

/** HOME inside. */
export const INNER_HOME = '/home/sbx';
export const SECCOMP_FD = 3;
export const STATUS_FD = 4;
export const ARGS_FD = 5;

export interface Fence {
  view: SystemView;
  steps: readonly MountStep[];
  /** Host paths: HOME, an empty file that nobody may read, and files to show in place of the system's (path inside → host). */
  home: string;
  emptyFile: string;
  overlays: Readonly<Record<string, string>>;
  /** Files and folders of `view` to show empty. */
  masked: readonly { path: string; shape: 'file' | 'folder' }[];
  env: Readonly<Record<string, string>>;
  workdir: string;
  bounds: Bounds;
  /** Where bubblewrap finds a host path: itself, or where a launcher put it. */
  locate(hostPath: string): string;
}

const MIB = 1024 * 1024;
const OPEN_FILES = 65_536;

/**
 * The arguments of bubblewrap for one command, without the program that runs inside. Order is meaning: later mounts cover earlier
 * ones, and read-only remounts come after what is made below them.
 */
export function bubblewrapArgs(fence: Fence): string[] {
  const { view, bounds, locate } = fence;
  // tmpfs pages are memory: both together stay below the bound.
  const tmpBytes = Math.max(16 * MIB, Math.min(1024 * MIB, Math.floor(bounds.memoryBytes / 2)));
  const shmBytes = Math.max(MIB, Math.min(256 * MIB, Math.floor(bounds.memoryBytes / 8)));
  const tmpfs = (to: string, bytes: number): string[] => ['--perms', '1777', '--size', String(bytes), '--tmpfs', to];
  const empty = (to: string): string[] => ['--perms', '0555', '--size', String(MIB), '--tmpfs', to, '--remount-ro', to];
  const nothing = (to: string): string[] => ['--ro-bind', locate(fence.emptyFile), to];
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox', '--clearenv'],
    ...environment(fence).flatMap(([name, value]) => ['--setenv', name, value]),
    ...view.folders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...view.links.flatMap(([target, link]) => ['--symlink', target, link]),
    ...Object.entries(fence.overlays).flatMap(([to, from]) => ['--ro-bind', locate(from), to]),
    ...view.masked.flatMap(empty),
    ...fence.masked.flatMap((mask) => (mask.shape === 'folder' ? empty(mask.path) : nothing(mask.path))),
    ...['--dev', '/dev', ...tmpfs('/dev/shm', shmBytes), '--remount-ro', '/dev'],
    // bubblewrap leaves /proc/sys writable for uid 0, where `core_pattern` is a way to run anything on the host.
    ...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
    ...tmpfs('/tmp', tmpBytes),
    ...['--dir', '/run', '--dir', '/var', '--symlink', '../tmp', '/var/tmp'],
    ...view.extras.flatMap(({ from, to }) => ['--ro-bind', locate(from), to]),
    ...['--bind', locate(fence.home), INNER_HOME],
    ...fence.steps.flatMap((step) => {
      if (step.kind === 'hidden') return step.shape === 'folder' ? empty(step.to) : nothing(step.to);
      return [step.kind === 'write' ? '--bind' : '--ro-bind', locate(step.from), step.to];
    }),
    ...['--remount-ro', '/', '--chdir', fence.workdir],
    ...['--seccomp', String(SECCOMP_FD), '--json-status-fd', String(STATUS_FD)],
  ];
}

function environment({ env, view }: Fence): [string, string][] {
  return Object.entries({ PATH: view.path, ...env, HOME: INNER_HOME, TMPDIR: '/tmp' });
}

/** In place of a script: it comes on stdin, ended by a NUL. */
export const AWAITED = 'awaited';

/**
 * The program inside: carries the watchdog's mark, closes what was inherited, sets the limits (but that of core dumps, see limit-dumps.ts), joins stderr to stdout (bubblewrap's own complaints keep a stderr of their own), and gives
 * way to the shell of the script, once `bridge` has opened what leads out. `-p` keeps the command's BASH_ENV and functions out of this step.
 */
export function innerCommand(
  script: readonly string[] | typeof AWAITED,
  { bounds, mark, bridge = [] }: { bounds: Bounds; mark: string; bridge?: readonly string[] | undefined },
): string[] {
  const setUp = [
    `: ${mark}`,
    CLOSE_DESCRIPTORS,
    `ulimit -u ${bounds.processes}`,
    `ulimit -f ${fileKibOf(bounds.fileSizeBytes)}`,
    // Soft: what maps terabytes without using them (a sanitizer) may lift it. The watch holds all the same.
    `ulimit -S -d ${dataKibOf(bounds)}`,
    `ulimit -n ${OPEN_FILES} 2>/dev/null`,
    ...(bridge.length === 0 ? [] : [`"\${@:1:${bridge.length}}" || exit 1`, `shift ${bridge.length}`]),
    script === AWAITED
      ? `${AWAIT_SCRIPT}; exec -a bash /bin/bash -c "$BELAY_SCRIPT" < /dev/null 2>&1`
      : 'exec -a bash /bin/bash "$@" 2>&1',
  ].join('; ');
  return ['/bin/bash', '-p', '-c', setUp, 'bash', ...bridge, ...(script === AWAITED ? [] : script)];
}
