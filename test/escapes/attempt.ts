/** What can be wrong with a fence: one deed that it must stop, tried for real. */
export interface Attempt {
  id: string;
  deed: string;
  /** Prints `breached` where the deed worked and tells by itself; `tried` is printed after it. */
  script: string;
  /**
   * Whose unfenced try works: anyone's, or only root's (`where`: on a machine that has one of these files). `plain`: anyone's in a
   * plain shell, since belay stops it without a fence too. Else why it cannot be shown without harm, or at all.
   */
  control: 'anyone' | 'root' | { where: readonly string[] } | 'plain' | { none: string };
  /** A path on the host that the deed would change, where its own word is not to be believed: relative to the workspace, or absolute with the names of the environment. */
  changes?: string;
  /** Checks and setup may do it: the policy's own commands see what is hidden and protected from the agent. */
  agentOnly?: true;
  /** The deed works under this tier, and why it is left so. `user`: only where commands run as belay's own user. */
  open?: { landlock: { for: 'everyone' | 'user'; why: string } };
}

export const said = (id: string, deed: string, script: string): Attempt => ({ id, deed, script, control: 'anyone' });

export const rootSaid = (id: string, deed: string, script: string): Attempt => ({ id, deed, script, control: 'root' });

export const rootSaidWhere = (id: string, deed: string, script: string, where: readonly string[]): Attempt => ({
  id,
  deed,
  script,
  control: { where },
});

export const plainSaid = (id: string, deed: string, script: string): Attempt => ({
  id,
  deed,
  script,
  control: 'plain',
});

export const unshown = (id: string, deed: string, script: string, none: string): Attempt => ({
  id,
  deed,
  script,
  control: { none },
});

/** Judged by the path, not by a word; only the agent is kept from it. */
export const guarded = (id: string, deed: string, script: string, changes: string): Attempt => ({
  id,
  deed,
  script,
  control: 'anyone',
  changes,
  agentOnly: true,
});

/** System call numbers of this machine, for deeds that have no program. */
/** Perl that asks the kernel for something: a breach unless it says EPERM; any other answer is the call's own. */
export const unlessRefused = (perl: string): string => `perl -e '${perl}; exit($!{EPERM} ? 1 : 0)' && echo breached`;

export const CALLS =
  process.arch === 'arm64'
    ? {
        ...{
          addKey: 217,
          keyctl: 219,
          ptrace: 117,
          vmReadv: 270,
          prlimit: 261,
          bpf: 280,
          perf: 241,
          memfd: 279,
          setns: 268,
          handle: 265,
        },
        ...{ userfault: 282, requestKey: 218, fanotify: 262, module: 273, swap: 224, syslog: 116, rename: 276 },
      }
    : {
        ...{
          addKey: 248,
          keyctl: 250,
          ptrace: 101,
          vmReadv: 310,
          prlimit: 302,
          bpf: 321,
          perf: 298,
          memfd: 319,
          setns: 308,
          handle: 304,
        },
        ...{ userfault: 323, requestKey: 249, fanotify: 300, module: 313, swap: 167, syslog: 103, rename: 316 },
      };
