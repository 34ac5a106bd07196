import type { CommandUser } from './command-user.ts';
import { isLimited, limitCoresOf } from './limit-dumps.ts';
import { enterStage, type StageSource, stageCommand } from './stage-launcher.ts';

export interface CommandLaunch {
  file: string;
  /** Arguments up to and including bubblewrap, without its own. */
  args: string[];
  /** Descriptors for the child, from 6 on. */
  fds: readonly number[];
}

/** What stands before bubblewrap, known once for all that is started with these sources. */
export interface LaunchPlan {
  /** Paths that are put into a namespace of their own before bubblewrap makes the fence of them; null where none is. */
  staged: readonly string[] | null;
  locate(hostPath: string): string;
  /** `held`: descriptor of a namespace in which the sources are staged. */
  launch(cgroupFiles: readonly string[], held: number | null): CommandLaunch;
}

interface LaunchOptions {
  user: CommandUser;
  bwrap: string;
  /** Every host path that is mounted apart from the system's own folders. */
  sources: readonly StageSource[];
}

const FIRST_FREE_FD = 6;

/**
 * The programs that stand before bubblewrap: for a plain user none, once the first one has bounded the core dumps of belay, which
 * every later one takes over; for root, what turns it into another user.
 */
export function planLaunch({ user, bwrap, sources }: LaunchOptions): LaunchPlan {
  if (user.kind === 'staged') {
    const stageUser = { ...user, mapFd: user.map === null ? null : FIRST_FREE_FD };
    const { prefix, roots, locate } = stageCommand(stageUser, sources);
    return {
      staged: roots,
      locate,
      launch: (_, held) =>
        user.nsenter !== null && held !== null
          ? split([...enterStage(stageUser, user.nsenter, FIRST_FREE_FD), bwrap], [held])
          : split([...prefix, bwrap], user.map === null ? [] : [user.map]),
    };
  }
  const locate = (hostPath: string): string => hostPath;
  return { staged: null, locate, launch: (cgroupFiles) => launchAs(user, bwrap, cgroupFiles) };
}

function launchAs(
  user: Exclude<CommandUser, { kind: 'staged' }>,
  bwrap: string,
  cgroupFiles: readonly string[],
): CommandLaunch {
  const enter =
    cgroupFiles.length === 0
      ? []
      : ['/bin/bash', '-p', '-c', ENTER, 'bash', String(cgroupFiles.length), ...cgroupFiles];
  const become =
    user.kind === 'setpriv'
      ? [
          user.program,
          '--reuid',
          String(user.uid),
          '--regid',
          String(user.gid),
          '--clear-groups',
          '--inh-caps=-all',
          '--',
        ]
      : [];
  const limit = isLimited() ? [] : limitCoresOf();
  return split([...limit, ...enter, ...become, bwrap], []);
}

/** Joins the control groups, then gives way. */
const ENTER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 111; shift; n=$((n - 1)); done; exec "$@"';

function split([file = '', ...args]: string[], fds: readonly number[]): CommandLaunch {
  return { file, args, fds };
}
