import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { createFolders, type Folders, IS_LINUX, mountOf, openIn, runIn } from './fixture.ts';

describe.skipIf(!IS_LINUX)('what a fenced command sees of the file system', () => {
  let folders: Folders;
  let sandbox: Sandbox;
  beforeAll(async () => {
    folders = createFolders();
    sandbox = await openIn(folders);
  });
  afterAll(async () => {
    await sandbox.close();
    folders.remove();
  });
  const at = (file: string): string => path.join(folders.ws, file);
  const ws = () => mountOf(folders.ws, 'write');

  it('is the system, read-only, a private /tmp and HOME, and its mounts', async () => {
    const { output } = await runIn(sandbox, folders, 'ls /; ls -A /home /run /var/; ls -A /tmp; echo $HOME $TMPDIR');
    const lines = output.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['bin', 'dev', 'etc', 'home', 'proc', 'tmp', 'usr', '/home/sbx /tmp']),
    );
    expect(lines).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(root|boot|srv|mnt|media|oldroot|newroot)$/)]),
    );
  });

  it('shows a folder at another path, as a clean room is shown at the path of the workspace', async () => {
    const room = path.join(folders.root, 'room');
    mkdirSync(room);
    const end = await runIn(sandbox, folders, 'pwd; ls -A; echo new > made', {
      mounts: [mountOf(room, 'write', folders.ws)],
    });
    expect(end).toMatchObject({ exitCode: 0, output: `${folders.ws}\n` });
    expect([readdirSync(room), existsSync(at('made'))]).toEqual([['made'], false]);
  });

  it('shows a frozen folder from elsewhere read-only inside the workspace', async () => {
    const frozen = path.join(folders.root, 'frozen');
    folders.write(path.join(frozen, 'tool'), 'echo tool\n');
    mkdirSync(at('node_modules'), { recursive: true });
    const end = await runIn(
      sandbox,
      folders,
      'sh node_modules/tool; echo x > node_modules/tool; mv node_modules y; rm -rf node_modules/tool; sh node_modules/tool',
      {
        mounts: [ws(), mountOf(frozen, 'read', at('node_modules'))],
      },
    );
    expect(end.output.split('\n').filter((line) => line === 'tool')).toEqual(['tool', 'tool']);
    expect(end.output).toContain('Read-only file system');
  });

  it('lets a later mount cover an earlier one', async () => {
    folders.write('sub/open.txt', 'open\n');
    const mounts = [mountOf(folders.ws, 'read'), mountOf(at('sub'), 'write')];
    const { output } = await runIn(sandbox, folders, 'echo x > top; echo y >> sub/open.txt; cat sub/open.txt', {
      mounts,
    });
    expect(output).toBe('bash: line 1: top: Read-only file system\nopen\ny\n');
  });

  it('hides a file and a folder, whose names and what is beside them stay', async () => {
    folders.write('.env', 'hidden\n');
    folders.write('secrets/deep/key', 'hidden\n');
    folders.write('open.txt', 'open\n');
    const mounts = [ws(), mountOf(at('.env'), 'hidden'), mountOf(at('secrets'), 'hidden')];
    const { output } = await runIn(
      sandbox,
      folders,
      'cat open.txt .env secrets/deep/key; ls -A secrets; stat -c %s .env; tar cf - . 2>/dev/null | grep -ac hidden',
      { mounts },
    );
    expect(output).toBe('open\ncat: .env: Permission denied\ncat: secrets/deep/key: No such file or directory\n0\n0\n');
    expect([folders.read('.env'), folders.read('secrets/deep/key')]).toEqual(['hidden\n', 'hidden\n']);
  });

  it('is not made by following a link that the agent planted where a protected folder was', async () => {
    folders.write('.github/workflows/ci.yml', 'on: push\n');
    const mounts = [ws(), mountOf(at('.github'), 'read'), mountOf(at('.github/workflows/ci.yml'), 'read')];
    expect(await runIn(sandbox, folders, 'true', { mounts })).toMatchObject({ reason: 'exited', exitCode: 0 });
    // What an agent could leave if `.github` had not been protected in its command.
    rmSync(at('.github'), { recursive: true });
    symlinkSync(`/oldroot${folders.outside}`, at('.github'));
    const end = await runIn(sandbox, folders, 'echo ran', { mounts });
    expect(end).toMatchObject({ reason: 'failed_to_start', output: '', detail: expect.stringContaining('.github') });
    expect(readdirSync(folders.outside)).toEqual([]);
    rmSync(at('.github'));
  });

  it('keeps a protected file in its place when a folder above it is moved', async () => {
    folders.write('p/q/kept.txt', 'kept\n');
    const script =
      'mv p gone; mv p/q gone; mkdir -p p/q; echo evil > p/q/kept.txt; echo evil > p/q/beside.txt; cat p/q/kept.txt';
    const { output } = await runIn(sandbox, folders, script, { mounts: [ws(), mountOf(at('p/q/kept.txt'), 'read')] });
    expect(output.split('\n').at(-2)).toBe('kept');
    expect([folders.read('p/q/kept.txt'), folders.read('p/q/beside.txt')]).toEqual(['kept\n', 'evil\n']);
    // The same without the mount: the deed works.
    await runIn(sandbox, folders, script);
    expect(existsSync(at('gone'))).toBe(true);
    renameSync(at('gone'), at('p2'));
  });

  it('cannot be linked out of: a hard link to a protected file is not made', async () => {
    folders.write('kept.txt', 'kept\n');
    const script = 'ln kept.txt alias && echo evil > alias; cat kept.txt';
    expect((await runIn(sandbox, folders, script, { mounts: [ws(), mountOf(at('kept.txt'), 'read')] })).output).toMatch(
      /kept\n$/,
    );
    linkSync(at('kept.txt'), at('control'));
  });

  it('is refused when a source is missing, with its name', async () => {
    const end = await runIn(sandbox, folders, 'echo ran', { mounts: [ws(), mountOf(at('never'), 'read')] });
    expect(end).toEqual({
      reason: 'failed_to_start',
      exitCode: null,
      durationMs: 0,
      detail: `${at('never')} cannot be mounted: it does not exist.`,
      output: '',
      network: [],
    });
  });

  it('holds many protected paths', async () => {
    const files = Array.from({ length: 60 }, (_, index) => folders.write(`many/${index}/kept`, String(index)));
    const end = await runIn(
      sandbox,
      folders,
      'for n in 0 30 59; do echo x > many/$n/kept; cat many/$n/kept; done 2>/dev/null',
      {
        mounts: [ws(), ...files.map((file) => mountOf(file, 'read'))],
      },
    );
    expect(end).toMatchObject({ exitCode: 0, output: '03059' });
  });
});

describe.skipIf(!IS_LINUX)('a read-only sandbox', () => {
  it('writes nothing but HOME and /tmp, whatever the mounts of a command say', async () => {
    const folders = createFolders();
    const sandbox = await openIn(folders, { policy: { mode: 'read-only' } });
    const end = await runIn(sandbox, folders, 'echo x > new; echo y > ~/own; echo z > /tmp/own; cat ~/own /tmp/own');
    await sandbox.close();
    expect(end).toMatchObject({ exitCode: 0, output: 'bash: line 1: new: Read-only file system\ny\nz\n' });
    expect(readdirSync(folders.ws)).toEqual([]);
    folders.remove();
  });
});
