import { spawnSync } from 'node:child_process';
import { lstatSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Mount, Sandbox } from '../../src/sandbox/index.ts';
import {
  createFolders,
  type Folders,
  IS_LINUX,
  mountOf,
  openIn,
  processesWith,
  type RunChanges,
  readOf,
  runIn,
  shellsWith,
  sleepMark,
} from './fixture.ts';

const KINDS = [
  { kind: 'the fence', mode: 'workspace-write', require: 'bubblewrap' },
  { kind: 'the shell', mode: 'off', require: 'any' },
] as const;

describe.skipIf(!IS_LINUX).each(KINDS)('$kind of a command that follows two like it', ({ mode, require }) => {
  let folders: Folders;
  let sandbox: Sandbox;
  let mark: string;
  beforeEach(async () => {
    folders = createFolders();
    sandbox = await openIn(folders, { policy: { mode, require } });
    mark = sleepMark();
  });
  afterEach(async () => {
    await sandbox.close();
    folders.remove();
  });
  const run = async (script: string, changes: RunChanges = {}): Promise<string> => {
    const end = await runIn(sandbox, folders, script, { env: { MARK: mark }, moreFollow: true, ...changes });
    return end.reason === 'exited' ? `${end.output}${end.exitCode}` : end.reason;
  };
  /** Processes that wait, told from others by the environment that they were started with. */
  const waiting = () => processesWith(mark).concat(shellsWith(mark));
  const untilOneWaits = () => vi.waitFor(() => expect(waiting()).not.toEqual([]), { timeout: 10_000 });

  it('is there before the command is, and gives it what it gave the others', async () => {
    const script = [
      'echo "$0 $# $- $SHLVL $BASH_EXECUTION_STRING"; pwd; ulimit -a; cat; ls /proc/self/fd; stat -Lc %F /dev/fd/0',
      'env | grep -v BELAY_COMMAND_ID | sort; echo err >&2; ls -la; exit 3',
    ].join('\n');
    const first = await run(script);
    expect(first).toContain('err\n');
    expect(waiting()).toEqual([]);
    expect(await run(script)).toBe(first);
    await untilOneWaits();
    expect(await run(script)).toBe(first);
    expect(await run("printf '%s\\n' 'ü \"x\"' $'a\\tb'; kill -TERM $$")).toBe('ü "x"\na\tb\n143');
  });

  it('gives a command its environment, whatever the names in it', async () => {
    const env = { MARK: mark, script: 'mine', fd: 'mine too', REPLY: 'and mine' };
    for (let turn = 0; turn < 3; turn++) {
      expect(await run('echo $script, $fd, $REPLY; env | grep -c echo', { env })).toBe(
        'mine, mine too, and mine\n0\n1',
      );
      if (turn === 1) await untilOneWaits();
    }
  });

  it('is not taken by a command with another environment, folder or script of any length', async () => {
    folders.write('sub/file', 'in sub\n');
    expect([await run('echo 1'), await run('echo 2')]).toEqual(['1\n0', '2\n0']);
    await untilOneWaits();
    expect(await run('echo $MARK', { env: { MARK: 'other' } })).toBe('other\n0');
    await vi.waitFor(() => expect(waiting()).toEqual([]));
    expect(await run('cat file', { workdir: path.join(folders.ws, 'sub') })).toBe('in sub\n0');
    for (let turn = 0; turn < 3; turn++) expect(await run(`: ${'x'.repeat(200_000)}\necho long`)).toBe('long\n0');
    for (let turn = 0; turn < 3; turn++) expect(await run(`: ${'x'.repeat(100_000)}\necho long`)).toBe('long\n0');
  });

  it('is ended when no more follow, and with the sandbox', async () => {
    await run('echo 1');
    await run('echo 2');
    await untilOneWaits();
    await sandbox.rest();
    expect(waiting()).toEqual([]);
    await run('echo 1');
    await run('echo 2');
    await untilOneWaits();
    const closed = sandbox;
    sandbox = await openIn(folders, { policy: { mode, require } });
    await closed.close();
    expect(waiting()).toEqual([]);
  });

  it('is another one where the first was ended from outside', async () => {
    await run('echo 1');
    await run('echo 2');
    await untilOneWaits();
    const before = waiting();
    // The end of one takes others with it.
    spawnSync('kill', ['-9', ...before.map(String)]);
    await vi.waitFor(() => expect(waiting().filter((pid) => before.includes(pid))).toEqual([]));
    expect(await run('echo 3')).toBe('3\n0');
  });

  it('leaves nothing behind, and is ended by its time and by the end of the run as any other', async () => {
    const sleeper = sleepMark();
    await run('echo 1');
    await run('echo 2');
    await untilOneWaits();
    expect(await run(`(setsid nohup sleep ${sleeper} > /dev/null 2>&1 &); echo 3`)).toBe('3\n0');
    expect(processesWith(sleeper)).toEqual([]);
    await untilOneWaits();
    expect(await run(`setsid sleep ${sleeper} & sleep ${sleeper}`, { timeoutMs: 300 })).toBe('timed_out');
    expect(processesWith(sleeper)).toEqual([]);
    await untilOneWaits();
    const controller = new AbortController();
    const cancelled = run(`sleep ${sleeper}`, { signal: controller.signal });
    await vi.waitFor(() => expect(processesWith(sleeper)).not.toEqual([]), { timeout: 10_000 });
    controller.abort();
    expect(await cancelled).toBe('cancelled');
    expect(await run('echo never', { signal: controller.signal })).toBe('cancelled');
    expect([processesWith(sleeper), waiting()]).toEqual([[], []]);
  });
});

describe.skipIf(!IS_LINUX)('a fence that was set up ahead', () => {
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
  /** What commands print of a covered file, twice, and once more after it was replaced while a fence waits. */
  const readAround = async (file: string, mounts: readonly Mount[], replace: () => void): Promise<string[]> => {
    const mark = sleepMark();
    const options = { mounts: [mountOf(folders.ws, 'write'), ...mounts], env: { MARK: mark }, moreFollow: true };
    const read = async () => (await runIn(sandbox, folders, `cat ${file}`, options)).output;
    const isCovered = () => shellsWith(mark).some((pid) => readOf(pid, 'mountinfo').includes(` ${file} `));
    const shown = [await read(), await read()];
    await vi.waitFor(() => expect(isCovered()).toBe(true), { timeout: 10_000 });
    replace();
    // The kernel has taken the mount away in the fence that waits, too.
    expect(isCovered()).toBe(false);
    return [...shown, await read()];
  };

  it('is not used where another file lies at a path that it hides', async () => {
    const secret = folders.write('.env', 'old secret\n');
    const shown = await readAround(secret, [mountOf(secret, 'hidden')], () =>
      renameSync(folders.write('next', 'new secret\n'), secret),
    );
    expect(shown).toEqual(Array(3).fill(`cat: ${secret}: Permission denied\n`));
  });

  it('is not used where another file with the number of the old one does', async () => {
    const secret = folders.write('.env', 'old secret\n');
    const { ino } = lstatSync(secret);
    const shown = await readAround(secret, [mountOf(secret, 'hidden')], () => {
      rmSync(secret);
      // Most file systems give the number of a removed file to one that follows.
      const next = (at = 0): string => {
        const file = folders.write(`next-${at}`, 'new secret\n');
        return lstatSync(file).ino === ino || at === 999 ? file : next(at + 1);
      };
      renameSync(next(), secret);
    });
    expect(shown).toEqual(Array(3).fill(`cat: ${secret}: Permission denied\n`));
  });

  it('is not used where another file lies at a path at which it shows something else', async () => {
    const config = folders.write('.git/config', 'old token\n');
    const cover = folders.write(path.join(folders.outside, 'cover'), 'no token\n');
    const shown = await readAround(config, [mountOf(cover, 'read', config)], () =>
      renameSync(folders.write('.git/config.lock', 'new token\n'), config),
    );
    expect(shown).toEqual(Array(3).fill('no token\n'));
  });
});
