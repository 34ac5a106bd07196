import type { CommandUser } from './command-user.ts';
import { isLimited, limitCoresOf } from './limit-dumps.ts';
import { type StageSource, stageCommand } from './stage-launcher.ts';

export interface CommandLaunch {
  file: string;
  /** Arguments up to and including bubblewrap, without its own. */
  args: string[];
  /** Descriptors for the child, from 5 on. */
  fds: readonly number[];
  locate(hostPath: string): string;
}

interface LaunchOptions {
  user: CommandUser;
  bwrap: string;
  /** Every host path that is mounted apart from the system's own folders. */
  sources: readonly StageSource[];
  cgroupFiles: readonly string[];
}

const FIRST_FREE_FD = 5;

/**
 * The programs that stand before bubblewrap: for a plain user none, once the first one has bounded the core dumps of belay, which
 * every later one takes over; for root, what turns it into another user.
 */
export function launchCommand({ user, bwrap, sources, cgroupFiles }: LaunchOptions): CommandLaunch {
  const asIs = (hostPath: string): string => hostPath;
  if (user.kind === 'staged') {
    const { prefix, locate } = stageCommand(
      { ...user, mapFd: user.map === null ? null : FIRST_FREE_FD },
      sources,
      cgroupFiles,
    );
    return split([...prefix, bwrap], user.map === null ? [] : [user.map], locate);
  }
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
  return split([...limit, ...enter, ...become, bwrap], [], asIs);
}

/** Joins the control groups, then gives way. */
const ENTER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 111; shift; n=$((n - 1)); done; exec "$@"';

function split(
  [file = '', ...args]: string[],
  fds: readonly number[],
  locate: (hostPath: string) => string,
): CommandLaunch {
  return { file, args, fds, locate };
}
