import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDescription } from '../../src/sandbox/index.ts';
import { judgeProbe } from '../../src/sandbox/probe-script.ts';
import { createFolders, type Folders, IS_LINUX, mountOf, openIn, POLICY, probeIn, runIn } from './fixture.ts';

let folders: Folders;
beforeEach(() => {
  folders = createFolders();
});
afterEach(() => folders.remove());

const { PATH = '' } = process.env;
/** A PATH whose first `bwrap` is the shell script given. */
function withFakeBwrap(script: string, dir = path.join(folders.root, 'bin')): string {
  const file = folders.write(path.join(dir, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return `${dir}:${PATH}`;
}
const saying = (words: string): string => `echo '${words}' >&2; exit 1`;

const BUBBLEWRAP = { require: 'bubblewrap' } as const;

describe('the probe', () => {
  it('gives what the policy asserts or switches off, and says so', async () => {
    const off = await openIn(folders, { policy: { mode: 'off' } });
    const external = await openIn(folders, { policy: { require: 'external' } });
    const uid = process.geteuid?.() ?? null;
    expect([off.status, external.status]).toEqual([
      { tier: 'off', reason: 'The policy says `sandbox.mode: off`.', network: 'unrestricted', uid },
      {
        tier: 'external',
        reason: 'The policy asserts a sandbox around belay (`sandbox.require: external`); none of its own is in force.',
        network: 'unrestricted',
        uid,
      },
    ]);
    await off.close();
    await external.close();
  });

  it('does not settle for another sandbox than the one demanded, or for another way out than it can use', async () => {
    const unavailable = (words: string) => ({ kind: 'unavailable', reason: expect.stringContaining(words) });
    expect(await probeIn(folders, { policy: { require: 'seatbelt' } })).toEqual(unavailable('seatbelt'));
    const network = { mode: 'allow', hosts: ['registry.example'] } as const;
    const env = { PATH, HTTPS_PROXY: 'socks5://user:word@127.0.0.1:1080' };
    if (IS_LINUX) {
      expect(await probeIn(folders, { policy: { network }, env })).toEqual(unavailable('a socks5 proxy for https'));
      expect(JSON.stringify(await probeIn(folders, { policy: { network }, env }))).not.toContain('word@');
    }
  });

  it.skipIf(IS_LINUX)('finds nothing on a system without bubblewrap', async () => {
    expect(await probeIn(folders)).toEqual({ kind: 'unavailable', reason: expect.stringContaining(process.platform) });
  });

  it('takes no answer for a proof that is none', () => {
    const good =
      'seccomp=2 nnp=1 caps=0000000000000000 links=0 outside=no processes=200 fileKib=1048576 cores=0 bridge=none wrote=\n';
    const bad = [
      'bubblewrap: fine\n',
      good.replace('seccomp=2', 'seccomp=0'),
      good.replace('nnp=1', 'nnp=0'),
      good.replace('caps=0000000000000000', 'caps=000001ffffffffff'),
      good.replace('links=0', 'links=1'),
      good.replace('outside=no', 'outside=yes'),
      good.replace('processes=200', 'processes=unlimited'),
      good.replace('fileKib=1048576', 'fileKib=unlimited'),
      good.replace('cores=0', 'cores=unlimited'),
      good.replace('wrote=', 'wrote= /usr/.belay-canary'),
    ];
    expect(judgeProbe(good, POLICY)).toBeNull();
    expect(judgeProbe(good, POLICY, true)).toBe('the way to the proxy does not work (none)');
    expect(judgeProbe(good.replace('bridge=none', 'bridge=403'), POLICY, true)).toBeNull();
    expect(bad.map((output) => judgeProbe(output, POLICY))).toEqual(bad.map(() => expect.any(String)));
  });
});

describe.skipIf(!IS_LINUX)('the probe on Linux', () => {
  it('proves bubblewrap, and leaves no scratch folder once it is closed', async () => {
    // Its own folder for temporary files: other tests make scratch folders too.
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = folders.outside;
    const sandbox = await openIn(folders, { policy: { require: 'bubblewrap' } });
    expect(sandbox.status).toMatchObject({
      tier: 'bubblewrap',
      network: 'none',
      reason: expect.stringContaining('bubblewrap works here'),
    });
    expect(readdirSync(folders.outside)).toEqual([expect.stringMatching(/^belay-sandbox-/)]);
    await sandbox.close();
    expect(readdirSync(folders.outside)).toEqual([]);
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });

  it('says how to install bubblewrap where it is missing', async () => {
    expect(await probeIn(folders, { policy: BUBBLEWRAP, env: { PATH: folders.outside } })).toEqual({
      kind: 'unavailable',
      reason: expect.stringMatching(/^bubblewrap is not installed: .*apt-get install -y bubblewrap/),
    });
  });

  const SYMPTOMS = [
    ['bwrap: setting up uid map: Permission denied', 'apparmor_restrict_unprivileged_userns'],
    [
      'bwrap: No permissions to create new namespace, likely because the kernel does not allow it',
      'apparmor_restrict_unprivileged_userns',
    ],
    ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'apparmor_restrict_unprivileged_userns'],
    ['bwrap: Failed to make / slave: Permission denied', 'apparmor=unconfined'],
    ["bwrap: Can'\"'\"'t mount proc on /newroot/proc: Operation not permitted", 'systempaths=unconfined'],
    ['bwrap: Unknown option --json-status-fd', 'too old'],
    ['bwrap: something new', 'something new'],
  ] as const;
  it.each(SYMPTOMS)('explains «%s»', async (words, fix) => {
    const probe = await probeIn(folders, { policy: BUBBLEWRAP, env: { PATH: withFakeBwrap(saying(words)) } });
    expect(probe).toEqual({ kind: 'unavailable', reason: expect.stringContaining(fix) });
  });

  it('is not taken in by a bubblewrap that fences nothing', async () => {
    const marker = path.join(folders.outside, 'ran');
    // Finds the command after `--` and runs it as it is.
    const script = `while [ "$1" != -- ]; do shift; done; shift; touch '${marker}'; printf '{"child-pid": 1}\\n{"exit-code": 0}\\n' >&4; exec "$@"`;
    chmodSync(folders.outside, 0o777);
    const probe = await probeIn(folders, { policy: BUBBLEWRAP, env: { PATH: withFakeBwrap(script) } });
    expect(probe.kind).toBe('unavailable');
    expect(existsSync(marker)).toBe(true);
  });

  it("does not take the workspace's own program for bubblewrap, however it is reached", async () => {
    const dir = path.join(folders.ws, 'node_modules/.bin');
    const PATH_IN = withFakeBwrap(`touch '${folders.outside}/ran'; ${saying('bwrap: fake')}`, dir);
    const linked = path.join(folders.root, 'linked');
    mkdirSync(linked);
    symlinkSync(path.join(dir, 'bwrap'), path.join(linked, 'bwrap'));
    for (const searchPath of [PATH_IN, `${linked}:${PATH_IN}`, `node_modules/.bin:.:${PATH_IN}`]) {
      const sandbox = await openIn(folders, { env: { PATH: searchPath } });
      await sandbox.close();
    }
    expect(readdirSync(folders.outside)).toEqual([]);
  });

  it('fails a command, not the probe, when a mount of that command is bad', async () => {
    const sandbox = await openIn(folders);
    const end = await runIn(sandbox, folders, 'echo ran', { workdir: '/nowhere' });
    expect(end).toMatchObject({
      reason: 'failed_to_start',
      exitCode: null,
      output: '',
      detail: expect.stringContaining('working directory'),
    });
    expect(await runIn(sandbox, folders, 'echo ran')).toMatchObject({ reason: 'exited', output: 'ran\n' });
    await sandbox.close();
  });

  it('is refused for a workspace that is a link or the root of the file system', async () => {
    symlinkSync(folders.ws, path.join(folders.root, 'link'));
    expect(await probeIn(folders, { mounts: [mountOf(path.join(folders.root, 'link'), 'write')] })).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('symbolic link'),
    });
    expect(await probeIn(folders, { mounts: [mountOf('/', 'write')] })).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('folder of its own'),
    });
  });
});

describe('the facts for the doctor', () => {
  it('say of each thing whether it works, whether it is needed, and how to fix it', async () => {
    const describeSandbox = await loadDescription();
    const facts = await describeSandbox({ env: process.env });
    expect(facts[0]).toMatchObject({ name: 'works', required: true });
    expect(facts.map(({ works, fix }) => works === (fix === null))).toEqual(facts.map(() => true));
    const runner = await describeSandbox({
      env: { PATH: '/nowhere', GITHUB_ACTIONS: 'true', RUNNER_ENVIRONMENT: 'github-hosted' },
    });
    expect(runner.find(({ name }) => name === 'GitHub-hosted runner')?.fix).toMatch(
      /apt-get install -y bubblewrap.*apparmor_restrict_unprivileged_userns=0.*apparmor_parser -r/,
    );
    const without = await describeSandbox({ env: { PATH: '/nowhere' } });
    expect(without.find(({ name }) => name === 'bubblewrap')).toMatchObject({ works: false, fix: expect.any(String) });
  });
});
