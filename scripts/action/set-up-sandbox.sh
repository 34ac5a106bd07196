#!/usr/bin/env bash
# Makes a Linux runner able to fence commands: bubblewrap, and user namespaces for it. Does only what is missing.
# Where it may not, it says what a person has to do and ends well: belay itself refuses to run without a fence (exit 21).
set -euo pipefail

# What `belay doctor` says of the same things, in src/sandbox/describe-sandbox.ts.
readonly PROFILE=/etc/apparmor.d/belay-bwrap

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

fences() {
  bwrap --unshare-user --unshare-pid --unshare-net --ro-bind / / true 2>/dev/null
}

notice() {
  printf '::notice title=belay: sandbox::%s\n' "$1"
}

if [ "$(uname -s)" != Linux ]; then
  notice "belay fences commands on Linux only; run this job on a Linux runner"
  exit 0
fi

if ! command -v bwrap >/dev/null; then
  echo 'installing bubblewrap'
  if ! as_root apt-get install -y --no-install-recommends bubblewrap >/dev/null 2>&1 &&
    ! { as_root apt-get update >/dev/null && as_root apt-get install -y --no-install-recommends bubblewrap >/dev/null; }; then
    notice "bubblewrap is missing and could not be installed: install it on this runner (belay doctor says how)"
    exit 0
  fi
fi

if fences; then
  echo 'sandbox: bubblewrap works here'
  exit 0
fi

# Ubuntu 24.04 gives user namespaces to programs with an AppArmor profile alone: one for bwrap opens them to nothing else.
if command -v apparmor_parser >/dev/null; then
  echo "allowing user namespaces for bwrap (${PROFILE})"
  profile="abi <abi/4.0>,
include <tunables/global>
profile belay-bwrap $(command -v bwrap) flags=(unconfined) {
  userns,
}"
  if ! { printf '%s\n' "$profile" | as_root tee "$PROFILE" >/dev/null && as_root apparmor_parser -r "$PROFILE"; }; then
    echo 'the profile could not be loaded'
  fi
fi
if ! fences; then
  for setting in kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1; do
    echo "setting ${setting}"
    as_root sysctl -q -w "$setting" 2>/dev/null || echo "this machine has no such setting, or does not let it be changed"
  done
fi
if fences; then
  echo 'sandbox: bubblewrap works here'
else
  notice "user namespaces are not available to bubblewrap on this runner: belay doctor says why and what helps"
fi
