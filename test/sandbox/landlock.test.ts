import { chmodSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { landlockRules, landlockRuleset } from '../../src/sandbox/landlock-rules.ts';
import { judgeLandlockProbe } from '../../src/sandbox/probe-script.ts';
import { loadSystemView } from '../../src/sandbox/system-view.ts';
import {
  createFolders,
  type Folders,
  HAS_LANDLOCK,
  IS_LINUX,
  mountOf,
  openIn,
  POLICY,
  probeIn,
  processesWith,
  runIn,
  sleepMark,
} from './fixture.ts';

let folders: Folders;
beforeEach(() => {
  folders = createFolders();
});
afterEach(() => folders.remove());
const at = (file: string): string => path.join(folders.ws, file);
const REQUIRED = { policy: { require: 'landlock' } } as const;

describe('what the kernel is told', () => {
  const words = (bytes: Buffer): string[] =>
    Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64LE(index * 8).toString(16));

  it('is a ruleset as long as its version knows it, with every right that it has', () => {
    expect([3, 4, 5, 6, 7].map((abi) => words(landlockRuleset(abi)))).toEqual([
      ['7fff'],
      ['7fff', '3'],
      ['ffff', '3'],
      ['ffff', '3', '3'],
      ['ffff', '3', '3'],
    ]);
  });

  it('gives folders no right to make devices, and files no right of folders', () => {
    const file = folders.write('file.txt');
    const view = { folders: [], links: [], extras: [], masked: [], path: '' };
    const rules = landlockRules({ view, read: [file, at('missing')], write: [folders.ws] }, 7);
    const accessTo = (place: string) => rules.find((rule) => rule.path === place)?.access;
    expect(accessTo(file)).toBe(0b101);
    expect(accessTo(folders.ws)).toBe(0x7fff - (1 << 6) - (1 << 11));
    expect(accessTo(at('missing'))).toBeUndefined();
  });

  it('leaves a folder of credentials out of the folder around it', () => {
    for (const file of ['a/tool', 'runner/.credentials']) folders.write(file);
    const view = { folders: [folders.ws], links: [], extras: [], masked: [at('runner')], path: '' };
    const paths = landlockRules({ view, read: [], write: [] }, 7).map((rule) => rule.path);
    expect(paths.filter((place) => place.startsWith(folders.ws))).toEqual([at('a')]);
  });

  it.skipIf(!IS_LINUX)('never covers the folders of users', () => {
    const view = loadSystemView({ env: { PATH: '/usr/bin' }, readable: [], nodePath: '/usr/bin/env' });
    const paths = landlockRules({ view, read: [], write: [] }, 7).map((rule) => rule.path);
    expect(paths.filter((place) => ['/', '/home', '/root', '/run', '/tmp', '/var', '/dev'].includes(place))).toEqual(
      [],
    );
  });
});

describe('what the probe takes for a proof of Landlock', () => {
  const good =
    'seccomp=2 nnp=1 caps=0000000000000000 read=no net=no environ=no signal=no fileKib=1048576 cores=0 wrote=\n';
  const promised = { bounds: POLICY, scopesSignals: true };

  it('is nothing less than all of it', () => {
    const bad = [
      'bash: fine\n',
      good.replace('seccomp=2', 'seccomp=0'),
      good.replace('nnp=1', 'nnp=0'),
      good.replace('caps=0000000000000000', 'caps=000001ffffffffff'),
      good.replace('read=no', 'read=yes'),
      good.replace('net=no', 'net=yes'),
      good.replace('environ=no', 'environ=yes'),
      good.replace('signal=no', 'signal=yes'),
      good.replace('fileKib=1048576', 'fileKib=unlimited'),
      good.replace('cores=0', 'cores=unlimited'),
      good.replace('wrote=', 'wrote= /etc/.belay-canary'),
    ];
    expect(judgeLandlockProbe(good, promised)).toBeNull();
    expect(bad.map((output) => judgeLandlockProbe(output, promised))).toEqual(bad.map(() => expect.any(String)));
  });
});

describe.skipIf(!HAS_LANDLOCK)('the landlock sandbox', () => {
  const mounts = () => [
    mountOf(folders.ws, 'write'),
    ...['.git', 'belay.yml'].map((file) => mountOf(at(file), 'read')),
    mountOf(at('.env'), 'hidden'),
  ];
  const prepare = (): void => {
    for (const [file, text] of Object.entries({ '.git/config': 'git\n', 'belay.yml': 'rule\n', '.env': 'hidden\n' }))
      folders.write(file, text);
  };

  it('stands in for a bubblewrap that does not work, says so, and is named', async () => {
    const { PATH = '' } = process.env;
    const fake = folders.write(path.join(folders.root, 'bin/bwrap'), '#!/bin/sh\nexit 1\n');
    chmodSync(fake, 0o755);
    const env = { PATH: `${path.dirname(fake)}:${PATH}` };
    const sandbox = await openIn(folders, { env });
    await sandbox.close();
    expect(sandbox.status).toMatchObject({
      tier: 'landlock',
      network: 'none',
      reason: expect.stringContaining('bubblewrap, which holds more, does not work'),
    });
    expect(await probeIn(folders, { env, policy: { require: 'bubblewrap' } })).toMatchObject({ kind: 'unavailable' });
  });

  it('is refused a network by a list of hosts', async () => {
    const policy = { require: 'landlock', network: { mode: 'allow', hosts: ['registry.example'] } } as const;
    expect(await probeIn(folders, { policy })).toEqual({
      kind: 'unavailable',
      reason: expect.stringContaining('network'),
    });
  });

  it('takes back every kind of change that the command may make, and only that', async () => {
    prepare();
    for (const file of ['same.txt', 'changed.txt', 'gone.txt', 'was-file', 'was-folder/a.txt', 'deep/er/b.txt'])
      folders.write(file, 'old\n');
    const sandbox = await openIn(folders, REQUIRED);
    const script = [
      'echo new > changed.txt; rm gone.txt; rm was-file; mkdir was-file; echo in > was-file/c.txt',
      'rm -r was-folder; ln -s same.txt was-folder; mkdir -p new/folder; echo x > new/folder/tool; chmod 755 new/folder/tool',
      'rm -r deep/er; mkfifo pipe; echo bad > belay.yml; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit',
      'mkdir -p sub/.git; echo x > sub/.git/config; ls -A; cat .env',
    ].join('\n');
    const end = await runIn(sandbox, folders, script, { mounts: mounts() });
    await sandbox.close();
    expect(end.output).not.toContain('hidden');
    expect(end.output).toContain('[belay: not kept, because it is protected or no file:');
    for (const name of ['belay.yml', '.git', 'pipe', 'sub/.git'])
      expect(end.output).toContain(JSON.stringify(at(name)));
    expect(folders.read('changed.txt')).toBe('new\n');
    expect(folders.read('was-file/c.txt')).toBe('in\n');
    expect(readlinkSync(at('was-folder'))).toBe('same.txt');
    expect(lstatSync(at('new/folder/tool')).mode & 0o777).toBe(0o755);
    expect([folders.read('belay.yml'), folders.read('.git/config'), folders.read('.env')]).toEqual([
      'rule\n',
      'git\n',
      'hidden\n',
    ]);
    expect(readdirSync(folders.ws).sort()).toEqual(
      ['.env', '.git', 'belay.yml', 'changed.txt', 'deep', 'new', 'same.txt', 'sub', 'was-file', 'was-folder'].sort(),
    );
    expect([readdirSync(at('.git')), readdirSync(at('deep')), readdirSync(at('sub'))]).toEqual([['config'], [], []]);
  });

  it('shows each command the folder as it is, with what is protected put right', async () => {
    prepare();
    const sandbox = await openIn(folders, REQUIRED);
    await runIn(sandbox, folders, 'echo bad > belay.yml; echo 1 > own.txt', { mounts: mounts() });
    writeFileSync(at('own.txt'), '2\n');
    mkdirSync(at('by-hand'));
    const end = await runIn(sandbox, folders, `cat belay.yml own.txt; ls -d by-hand; cat '${folders.ws}/own.txt'`, {
      mounts: mounts(),
    });
    await sandbox.close();
    expect(end).toMatchObject({ exitCode: 0, output: 'rule\n2\nby-hand\n2\n' });
  });

  it('never writes through a link that the command left where a folder was', async () => {
    prepare();
    folders.write('folder/file.txt', 'old\n');
    folders.write(path.join(folders.outside, 'file.txt'), 'outside\n');
    const sandbox = await openIn(folders, REQUIRED);
    await runIn(sandbox, folders, `rm -r folder; ln -s '${folders.outside}' folder`, { mounts: mounts() });
    expect(readlinkSync(at('folder'))).toBe(folders.outside);
    await runIn(sandbox, folders, 'rm folder; mkdir folder; echo new > folder/file.txt', { mounts: mounts() });
    await sandbox.close();
    expect(folders.read('folder/file.txt')).toBe('new\n');
    expect(folders.read(path.join(folders.outside, 'file.txt'))).toBe('outside\n');
  });

  it('keeps what is protected in a folder that the command removed or replaced', async () => {
    folders.write('guard/rule.txt', 'rule\n');
    folders.write('guard/free.txt', 'free\n');
    const covered = [mountOf(folders.ws, 'write'), mountOf(at('guard/rule.txt'), 'read')];
    const sandbox = await openIn(folders, REQUIRED);
    await runIn(sandbox, folders, 'rm -r guard; echo x > guard', { mounts: covered });
    await sandbox.close();
    expect(readdirSync(at('guard'))).toEqual(['rule.txt']);
    expect(folders.read('guard/rule.txt')).toBe('rule\n');
  });

  it('lets a command of a subfolder read the folder around it, and write only its own', async () => {
    folders.write('shared/lib.txt', 'lib\n');
    folders.write('app/own.txt', 'own\n');
    const inner = [mountOf(folders.ws, 'read'), mountOf(at('app'), 'write')];
    const sandbox = await openIn(folders, REQUIRED);
    const script = 'cat ../shared/lib.txt; echo x > ../shared/lib.txt; echo y > own.txt';
    const end = await runIn(sandbox, folders, script, { mounts: inner, workdir: at('app') });
    await sandbox.close();
    expect(end.output).toContain('lib\n');
    expect([folders.read('shared/lib.txt'), folders.read('app/own.txt')]).toEqual(['lib\n', 'y\n']);
  });

  it('writes nothing in a read-only workspace', async () => {
    folders.write('file.txt', 'old\n');
    const sandbox = await openIn(folders, { policy: { require: 'landlock', mode: 'read-only' } });
    const end = await runIn(
      sandbox,
      folders,
      'cat file.txt; echo x > file.txt; echo x > new.txt; echo ok > ~/own.txt && cat ~/own.txt',
    );
    await sandbox.close();
    expect(end.output).toMatch(/^old\n[\s\S]*ok\n$/);
    expect([readdirSync(folders.ws), folders.read('file.txt')]).toEqual([['file.txt'], 'old\n']);
  });

  it('does not let the environment of a command reach what stands outside of it', async () => {
    const sandbox = await openIn(folders, REQUIRED);
    const env = { PERL5OPT: '-Mnone::such', PERL5LIB: folders.ws, BASH_ENV: at('env.sh') };
    const end = await runIn(sandbox, folders, 'echo "$PERL5OPT"', { env });
    await sandbox.close();
    expect(end).toMatchObject({ reason: 'exited', exitCode: 0, output: expect.stringContaining('-Mnone::such') });
  });

  it('ends what emptied its environment, left its session and its parent', async () => {
    const mark = sleepMark();
    const sandbox = await openIn(folders, REQUIRED);
    const end = await runIn(sandbox, folders, `(setsid env -i sleep ${mark} > /dev/null 2>&1 &); sleep 0.2; echo done`);
    await sandbox.close();
    expect(end).toMatchObject({ exitCode: 0, output: 'done\n' });
    expect(processesWith(mark)).toEqual([]);
  });

  it('follows no link of the workspace while it copies', async () => {
    prepare();
    folders.write(path.join(folders.outside, 'secret.txt'), 'secret\n');
    symlinkSync(path.join(folders.outside, 'secret.txt'), at('link'));
    const sandbox = await openIn(folders, REQUIRED);
    const end = await runIn(sandbox, folders, 'cat link; true', { mounts: mounts() });
    await sandbox.close();
    expect(end.output).not.toContain('secret\n');
  });
});
