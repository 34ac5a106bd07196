import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCgroupHome } from '../../src/sandbox/cgroup.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { openAs } from './bubblewrap-as.ts';
import { createFolders, type Folders, IS_LINUX, IS_ROOT, openIn, processesWith, runIn, sleepMark } from './fixture.ts';

const OWNER = 1234;

describe.skipIf(!IS_LINUX || !IS_ROOT)('a sandbox of root (skipped for others)', () => {
  let folders: Folders;
  beforeEach(() => {
    folders = createFolders();
  });
  afterEach(() => folders.remove());
  const ownerOf = (file: string): number => statSync(path.resolve(folders.ws, file)).uid;

  it('runs commands as a spare user to whom the files of root are its own, and who leaves files of root', async () => {
    writeFileSync(path.join(folders.ws, 'private'), 'mine\n', { mode: 0o600 });
    const sandbox = await openIn(folders);
    const { output } = await runIn(
      sandbox,
      folders,
      'id -u; id -un; stat -c %U private; cat private; echo new > new; mkdir dir; echo x > ~/own; head -c 1 /etc/shadow',
    );
    await sandbox.close();
    const { uid } = sandbox.status;
    expect(uid).toBeGreaterThan(60_000);
    expect(output).toBe(
      `${uid}\nsandbox\nsandbox\nmine\nhead: cannot open '/etc/shadow' for reading: Permission denied\n`,
    );
    expect([ownerOf('new'), ownerOf('dir'), ownerOf('private'), statSync(path.join(folders.home, 'own')).uid]).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it('works below a folder that only root may enter', async () => {
    const closed = path.join(folders.root, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const ws = path.join(closed, 'ws');
    mkdirSync(ws);
    const inside: Folders = { ...folders, ws };
    const sandbox = await openIn(inside);
    expect(await runIn(sandbox, inside, 'echo new > new; cat new')).toMatchObject({ exitCode: 0, output: 'new\n' });
    await sandbox.close();
    expect(readFileSync(path.join(ws, 'new'), 'utf8')).toBe('new\n');
  });

  it('runs commands as the owner of the workspace where that is not root', async () => {
    folders.write('file', 'theirs\n');
    for (const file of ['.', 'file']) chownSync(path.resolve(folders.ws, file), OWNER, OWNER);
    const sandbox = await openIn(folders);
    const { output } = await runIn(sandbox, folders, 'id -u; cat file; echo new > new; echo x > ~/own && echo home');
    await sandbox.close();
    expect(sandbox.status).toMatchObject({ uid: OWNER, reason: expect.stringContaining(`uid ${OWNER}`) });
    expect(output).toBe(`${OWNER}\ntheirs\nhome\n`);
    expect([ownerOf('new'), statSync(path.join(folders.home, 'own')).uid]).toEqual([OWNER, 0]);
  });

  it('becomes the owner of the workspace without perl as well', async () => {
    for (const dir of [folders.ws, folders.root]) chownSync(dir, OWNER, OWNER);
    folders.write(path.join(folders.home, 'cache/index'), 'old\n');
    const sandbox = openAs({ kind: 'setpriv', uid: OWNER, gid: OWNER, program: '/usr/bin/setpriv' }, [folders.ws]);
    const { output } = await runIn(
      sandbox,
      folders,
      'id -u; echo new > new; echo x > ~/own && echo home; echo new > ~/cache/index && echo cache',
    );
    await sandbox.close();
    expect(output).toBe(`${OWNER}\nhome\ncache\n`);
    expect(ownerOf('new')).toBe(OWNER);
  });

  describe('where it can only run commands as uid 0', () => {
    let sandbox: Sandbox;
    beforeEach(() => {
      sandbox = openAs({ kind: 'root', uid: 0, gid: 0 });
    });
    afterEach(() => sandbox.close());

    it('leaves them no capability, no kernel setting, and nothing of /etc that only root may read', async () => {
      const script =
        'id -u; grep CapEff /proc/self/status; for f in /proc/sys/kernel/core_pattern /etc/shadow; do [ -w $f ] && echo writable; done; cat /etc/shadow | wc -c';
      expect(await runIn(sandbox, folders, script)).toMatchObject({
        exitCode: 0,
        output: '0\nCapEff:\t0000000000000000\ncat: /etc/shadow: Permission denied\n0\n',
      });
    });

    it.skipIf(!IS_LINUX || findCgroupHome()?.pids == null)(
      'holds them to the number of processes by a control group, where root may make one',
      async () => {
        const mark = sleepMark();
        let most = 0;
        const controller = new AbortController();
        // Reading to the end waits until each of them is what it is to be: the pipe closes when a program starts.
        const bomb = `pipe R, W; for (1..100) { my $pid = fork; last unless defined $pid; exec "sleep", "${mark}" unless $pid } close W; <R>; print "counted\\n"; sleep 60`;
        await runIn(sandbox, folders, `exec perl -e '$| = 1; ${bomb}'`, {
          signal: controller.signal,
          onOutput: () => {
            most = Math.max(most, processesWith(mark).length);
            controller.abort();
          },
        });
        expect(most).toBeGreaterThan(20);
        expect(most).toBeLessThanOrEqual(40);
      },
    );
  });
});
