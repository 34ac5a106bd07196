import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ROOT } from './workflow-file.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * A machine of stand-ins for the programs of the distribution: a `bwrap` that works once `allowed` exists, and programs that
 * write down how they were called.
 */
function machine(programs: Readonly<Record<string, string>>) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-machine-')));
  folders.push(root);
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const log = `echo "$(basename "$0") $*" >>${root}/log; `;
  const standIns = {
    id: 'echo 1000',
    uname: 'echo Linux',
    // Never a program of the machine that runs the test.
    sudo: `shift; name="$1"; shift; exec "${bin}/$name" "$@"`,
    tee: 'cat >/dev/null',
    'apt-get': `${log} printf '#!/bin/sh\\ntest -e ${root}/allowed\\n' >${bin}/bwrap; chmod +x ${bin}/bwrap`,
    ...Object.fromEntries(Object.entries(programs).map(([name, text]) => [name, log + text.replaceAll('ROOT', root)])),
  };
  for (const [name, text] of Object.entries(standIns))
    writeFileSync(join(bin, name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${text}\n`, { mode: 0o755 });
  const script = join(ROOT, 'scripts/action/set-up-sandbox.sh');
  const { status, stdout } = spawnSync('/bin/bash', [script], { env: { PATH: bin }, encoding: 'utf8' });
  const calls = existsSync(join(root, 'log')) ? readFileSync(join(root, 'log'), 'utf8').trim().split('\n') : [];
  return { status, last: stdout.trim().split('\n').at(-1), calls: calls.filter((call) => !call.startsWith('bwrap')) };
}

const install = 'apt-get install -y --no-install-recommends bubblewrap';

describe('set-up of the sandbox', () => {
  it('does nothing where bubblewrap works', () => {
    expect(machine({ bwrap: 'exit 0' })).toEqual({ status: 0, last: 'sandbox: bubblewrap works here', calls: [] });
  });

  it('installs bubblewrap and gives it, and it alone, user namespaces by an AppArmor profile', () => {
    expect(machine({ apparmor_parser: 'touch ROOT/allowed' })).toEqual({
      status: 0,
      last: 'sandbox: bubblewrap works here',
      calls: [install, 'apparmor_parser -r /etc/apparmor.d/belay-bwrap'],
    });
  });

  it('lifts the restriction of the whole machine where a profile does not help', () => {
    const { last, calls } = machine({ apparmor_parser: 'exit 1', sysctl: 'touch ROOT/allowed' });
    expect({ last, calls }).toEqual({
      last: 'sandbox: bubblewrap works here',
      calls: [
        install,
        'apparmor_parser -r /etc/apparmor.d/belay-bwrap',
        'sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0',
        'sysctl -q -w kernel.unprivileged_userns_clone=1',
      ],
    });
  });

  it('says what is missing where it may change nothing, and leaves the refusal to belay', () => {
    expect(machine({ sudo: 'exit 1' })).toEqual({
      status: 0,
      last: '::notice title=belay: sandbox::bubblewrap is missing and could not be installed: install it on this runner (belay doctor says how)',
      calls: ['sudo -n apt-get install -y --no-install-recommends bubblewrap', 'sudo -n apt-get update'],
    });
  });
});
