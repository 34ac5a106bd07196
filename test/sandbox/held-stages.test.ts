import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandUsers } from '../../src/sandbox/command-user.ts';
import type { Mount, Sandbox } from '../../src/sandbox/index.ts';
import { openAs } from './bubblewrap-as.ts';
import {
  createFolders,
  type Folders,
  IS_LINUX,
  IS_ROOT,
  mountOf,
  openIn,
  processesWith,
  runIn,
  sleepMark,
} from './fixture.ts';

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
const namespaceOf = (pid: number | 'self'): string => readlinkSync(`/proc/${pid}/ns/mnt`);

/** Mount namespaces that this process keeps open. */
const heldHere = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const to = readlinkSync(`/proc/self/fd/${fd}`);
      return to.startsWith('mnt:') ? [to] : [];
    } catch (error) {
      // The descriptor of this very reading.
      if (error instanceof Error && 'code' in error) return [];
      throw error;
    }
  });

describe.skipIf(!IS_LINUX || !IS_ROOT)("what root's commands are staged in (skipped for others)", () => {
  let folders: Folders;
  let sandbox: Sandbox;
  beforeEach(async () => {
    folders = createFolders();
    sandbox = await openIn(folders, { policy: { require: 'bubblewrap' } });
  });
  afterEach(async () => {
    await sandbox.close();
    folders.remove();
  });

  /** The mount namespace in which bubblewrap makes the fence of a command. */
  async function stageOf(mounts: readonly Mount[] = [mountOf(folders.ws, 'write')]): Promise<string> {
    // Among the arguments of bubblewrap, and so is it found.
    const script = `echo up; sleep 60 # ${sleepMark()}`;
    const controller = new AbortController();
    let stage = '';
    await runIn(sandbox, folders, script, {
      mounts,
      signal: controller.signal,
      onOutput: () => {
        let pid = process.pid;
        for (let at = processesWith(script)[0] ?? pid; at !== process.pid; at = parentOf(at)) pid = at;
        stage = namespaceOf(pid);
        controller.abort();
      },
    });
    return stage;
  }

  /** `nsenter`: what enters a namespace, null where nothing does. */
  async function reopen(nsenter: string | null): Promise<void> {
    await sandbox.close();
    const { value: user } = await commandUsers(folders.ws, '/usr/bin/bwrap').next();
    if (user?.kind !== 'staged') throw new Error('nothing is staged here');
    sandbox = openAs({ ...user, nsenter });
  }

  it('is one namespace for all that have the same folders, and another one for others', async () => {
    const other = folders.write(path.join(folders.outside, 'other'), 'other\n');
    const [first, second] = [await stageOf(), await stageOf()];
    expect(second).toBe(first);
    expect(first).not.toBe(namespaceOf('self'));
    const third = await stageOf([mountOf(folders.ws, 'write'), mountOf(other, 'read')]);
    expect(third).not.toBe(first);
    expect(await stageOf([mountOf(folders.ws, 'read')])).not.toBe(first);
    expect(await stageOf()).toBe(first);
  });

  it('gives a command no more than it gave the one that it was staged for', async () => {
    const script = [
      'id; grep -E "^(Cap|Groups|NoNewPrivs|Seccomp:)" /proc/self/status; grep core /proc/self/limits; ls /proc/self/fd',
      'cat /proc/self/mountinfo | cut -d" " -f5- | sort; ls -la . ~ /mnt; cat /etc/shadow; echo x > /etc/x; true',
    ].join('\n');
    const outputs = [];
    for (const nsenter of [null, '/usr/bin/nsenter']) {
      await reopen(nsenter);
      await stageOf();
      outputs.push((await runIn(sandbox, folders, script)).output);
    }
    const [staged, entered] = outputs;
    expect(staged).toContain('Permission denied');
    expect(entered).toBe(staged);
  });

  it('is not used for a folder that came in the place of another one', async () => {
    folders.write('old');
    expect((await runIn(sandbox, folders, 'ls')).output).toBe('old\n');
    renameSync(folders.ws, path.join(folders.root, 'gone'));
    mkdirSync(folders.ws);
    folders.write('new');
    expect((await runIn(sandbox, folders, 'ls; touch made')).output).toBe('new\n');
    expect(readdirSync(folders.ws)).toEqual(['made', 'new']);
  });

  it('is not used where something was mounted since', async () => {
    const sub = path.dirname(folders.write('sub/under'));
    expect((await runIn(sandbox, folders, 'ls sub')).output).toBe('under\n');
    execFileSync('mount', ['-t', 'tmpfs', 'none', sub]);
    try {
      folders.write('sub/over');
      expect((await runIn(sandbox, folders, 'ls sub')).output).toBe('over\n');
    } finally {
      execFileSync('umount', [sub]);
    }
    expect((await runIn(sandbox, folders, 'ls sub')).output).toBe('under\n');
  });

  it('is kept for the last few kinds of commands, and until the sandbox is closed', async () => {
    const files = ['a', 'b', 'c', 'd', 'e'].map((name) => folders.write(path.join(folders.outside, name)));
    const stages = [];
    for (const file of files) stages.push(await stageOf([mountOf(folders.ws, 'write'), mountOf(file, 'read')]));
    expect(heldHere().sort()).toEqual(stages.slice(-3).sort());
    await reopen(null);
    expect(heldHere()).toEqual([]);
  });

  it('is made anew for each command where none can be entered', async () => {
    await reopen('/bin/false');
    for (const turn of ['1', '2', '3'])
      expect(await runIn(sandbox, folders, `echo ${turn}; exit 3`)).toMatchObject({
        reason: 'exited',
        exitCode: 3,
        output: `${turn}\n`,
      });
    expect(heldHere()).toEqual([]);
  });
});
