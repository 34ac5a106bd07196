import { statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFolders, type Folders, IS_LINUX, MIB, openIn, processesWith, runIn, sleepMark } from './fixture.ts';

describe.skipIf(!IS_LINUX)('the bounds of a fenced command', () => {
  let folders: Folders;
  beforeEach(() => {
    folders = createFolders();
  });
  afterEach(() => folders.remove());

  it('hold a fork bomb to the number of processes allowed', async () => {
    const sandbox = await openIn(folders, { policy: { processes: 60 } });
    const mark = sleepMark();
    let most = 0;
    // Not in bash, which waits for seconds when it cannot fork.
    // Reading to the end waits until each of them is what it is to be: the pipe closes when a program starts.
    const bomb = `pipe R, W; for (1..200) { my $pid = fork; last unless defined $pid; exec "sleep", "${mark}" unless $pid } close W; <R>; print "counted\\n"; sleep 60`;
    const script = `exec perl -e '$| = 1; ${bomb}'`;
    const controller = new AbortController();
    const end = await runIn(sandbox, folders, script, {
      signal: controller.signal,
      onOutput: () => {
        most = Math.max(most, processesWith(mark).length);
        controller.abort();
      },
    });
    await sandbox.close();
    expect(end.reason).toBe('cancelled');
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThanOrEqual(60);
    expect(processesWith(mark)).toEqual([]);
  });

  it('end a command that uses more memory than allowed, whichever of its processes does', async () => {
    const sandbox = await openIn(folders, { policy: { memoryBytes: 300 * MIB } });
    const hog = 'perl -e \'$x = "x" x (500 * 1024 * 1024); sleep 60\'';
    const end = await runIn(sandbox, folders, `echo begun; (setsid ${hog}) & sleep 60`);
    const modest = await runIn(sandbox, folders, 'perl -e \'$x = "x" x (100 * 1024 * 1024); sleep 1; print "done"\'');
    await sandbox.close();
    expect(end).toMatchObject({
      reason: 'killed',
      exitCode: null,
      output: 'begun\n',
      detail: `It used more memory than sandbox.memory allows (${300 * MIB} bytes).`,
    });
    expect(modest).toMatchObject({ reason: 'exited', exitCode: 0, output: 'done' });
  });

  it('stop a file, sparse or not, at the size allowed', async () => {
    const sandbox = await openIn(folders, { policy: { fileSizeBytes: MIB } });
    const end = await runIn(
      sandbox,
      folders,
      'head -c 500000 /dev/zero > small; head -c 5000000 /dev/zero > big; truncate -s 10G sparse; true',
    );
    await sandbox.close();
    expect(end.exitCode).toBe(0);
    const sizes = ['small', 'big', 'sparse'].map((name) => statSync(path.join(folders.ws, name)).size);
    expect(sizes).toEqual([500_000, MIB, 0]);
  });

  it('end a command that fills the disk, by files that have a name or none', async () => {
    const sandbox = await openIn(folders, { policy: { diskBytes: 24 * MIB } });
    const named = 'for i in 1 2 3 4 5 6 7 8; do head -c 8M /dev/zero > file-$i; done; sync; sleep 60';
    const nameless = 'exec 7<> open; rm open; head -c 64M /dev/zero >&7; sync; sleep 60';
    const ends = [await runIn(sandbox, folders, named), await runIn(sandbox, folders, nameless)];
    const modest = await runIn(sandbox, folders, 'rm file-*; head -c 4M /dev/zero > small; sleep 1; echo done');
    await sandbox.close();
    const detail = expect.stringContaining(`sandbox.disk allows (${24 * MIB} bytes)`);
    expect(ends).toEqual(ends.map(() => expect.objectContaining({ reason: 'killed', detail })));
    expect(modest).toMatchObject({ reason: 'exited', exitCode: 0, output: 'done\n' });
  });

  it('say which bound it was when a file grew over its size', async () => {
    const sandbox = await openIn(folders, { policy: { fileSizeBytes: MIB } });
    const end = await runIn(sandbox, folders, 'truncate -s 10G sparse');
    await sandbox.close();
    expect(end).toMatchObject({
      reason: 'exited',
      exitCode: 153,
      detail: expect.stringContaining('sandbox.file_size'),
    });
  });

  it('let what maps more than it uses have it, when it asks', async () => {
    const sandbox = await openIn(folders, { policy: { memoryBytes: 64 * MIB } });
    const { output } = await runIn(sandbox, folders, 'ulimit -S -d; ulimit -S -d unlimited && ulimit -S -d');
    await sandbox.close();
    expect(output).toBe(`${2 * 64 * 1024 + 1024 * 1024}\nunlimited\n`);
  });

  it('stop what fills /tmp and /dev/shm before it fills memory', async () => {
    const sandbox = await openIn(folders, { policy: { memoryBytes: 64 * MIB } });
    const { output } = await runIn(
      sandbox,
      folders,
      'for f in /tmp/fill /dev/shm/fill; do head -c 100M /dev/zero > $f; stat -c %s $f; rm $f; done 2>/dev/null',
    );
    await sandbox.close();
    expect(output).toBe(`${32 * MIB}\n${8 * MIB}\n`);
  });

  it('cannot be raised from inside', async () => {
    const sandbox = await openIn(folders, { policy: { processes: 100, fileSizeBytes: MIB } });
    const { output } = await runIn(
      sandbox,
      folders,
      'ulimit -u 5000; ulimit -f unlimited; ulimit -c unlimited; ulimit -u; ulimit -f; ulimit -c',
    );
    await sandbox.close();
    expect(output.split('\n').slice(-4, -1)).toEqual(['100', '1024', '0']);
  });
});
