/** What bubblewrap (or the launcher before it) says when the fence cannot be set up, and what to do about it. */
const SYMPTOMS: readonly (readonly [RegExp, string])[] = [
  [
    /uid map: (Permission denied|Operation not permitted)|No permissions to create new namespace|Creating new namespace failed: (Operation not permitted|Permission denied)/,
    'This machine does not let programs make user namespaces: on Ubuntu run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` (or load an AppArmor profile for bwrap with `userns,`); in a container add `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`.',
  ],
  [
    /No space left on device|Creating new namespace failed: Resource|nesting depth/,
    'This machine has no user namespaces left: raise `user.max_user_namespaces` with sysctl.',
  ],
  [
    /kernel does not support user namespaces|Creating new namespace failed: Invalid argument/,
    'The kernel has no user namespaces: use a kernel with CONFIG_USER_NS.',
  ],
  [
    /loopback: Failed/,
    'The machine refuses network set-up in a new namespace, which AppArmor does to an unprivileged user namespace: run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.',
  ],
  [
    /Failed to make \/ slave/,
    'The container refuses mounts: start it with `--security-opt apparmor=unconfined --security-opt seccomp=unconfined`.',
  ],
  [
    /Can't mount proc/,
    'The container masks parts of /proc: start it with `--security-opt systempaths=unconfined` (Kubernetes: `procMount: Unmasked` with `hostUsers: false`).',
  ],
  [/Unknown option/, 'This bubblewrap is too old: 0.8 or newer is needed.'],
  [/Can't chdir to/, 'The working directory of the command does not exist inside the sandbox.'],
  [
    /Too many levels of symbolic links|Can't (?:create|mkdir|bind)/,
    'A path of the workspace changed while it was being mounted, or this bubblewrap refuses it.',
  ],
];

/** One sentence or two from bubblewrap's stderr: what it said, and the fix where the symptom is a known one. */
export function explainFailure(stderr: string): string {
  const said = stderr.trim().split('\n').at(-1)?.trim() ?? '';
  const fix = SYMPTOMS.find(([pattern]) => pattern.test(stderr))?.[1];
  const what =
    said === ''
      ? 'bubblewrap ended without a word before the command started'
      : `The sandbox could not be set up (${said.slice(0, 300)})`;
  return fix === undefined ? `${what}.` : `${what}. ${fix}`;
}
