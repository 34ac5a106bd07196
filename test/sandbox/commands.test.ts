import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import {
  createFolders,
  type Folders,
  HAS_LANDLOCK,
  IS_LINUX,
  MIB,
  openIn,
  processesWith,
  runIn,
  sleepMark,
} from './fixture.ts';

const KINDS = [
  { kind: 'the fenced sandbox', mode: 'workspace-write', require: 'bubblewrap', runs: IS_LINUX },
  { kind: 'the landlock sandbox', mode: 'workspace-write', require: 'landlock', runs: HAS_LANDLOCK },
  { kind: 'the unsafe sandbox', mode: 'off', require: 'any', runs: process.platform !== 'win32' },
] as const;

describe.each(KINDS)('a command in $kind', ({ mode, require, runs }) => {
  describe.skipIf(!runs)('on this platform', () => {
    let folders: Folders;
    let sandbox: Sandbox;
    beforeAll(async () => {
      folders = createFolders();
      sandbox = await openIn(folders, { policy: { mode, require } });
    });
    afterAll(async () => {
      await sandbox.close();
      folders.remove();
    });
    const run: (script: string, changes?: Parameters<typeof runIn>[3]) => ReturnType<typeof runIn> = (
      script,
      changes,
    ) => runIn(sandbox, folders, script, changes);
    const exited = (exitCode: number, output: string) => ({
      reason: 'exited',
      exitCode,
      detail: null,
      output,
      network: [],
      durationMs: expect.any(Number),
    });

    it('ends with its own exit code, or 128 and the number of its signal', async () => {
      expect(await run('exit 7')).toEqual(exited(7, ''));
      expect(await run('true')).toEqual(exited(0, ''));
      expect(await run('kill -9 $$')).toEqual(exited(137, ''));
      expect(await run('kill -TERM $$; sleep 9')).toEqual(exited(143, ''));
      expect(await run('no-such-program-4711')).toMatchObject({
        exitCode: 127,
        output: 'bash: line 1: no-such-program-4711: command not found\n',
      });
    });

    it('gives stdout and stderr in the order they came, and both can be opened again by name', async () => {
      const script =
        'echo 1; echo 2 >&2; echo 3; echo 4 > /dev/stderr; echo 5 | tee /dev/stderr >/dev/null; echo 6 >&2';
      expect(await run(script)).toEqual(exited(0, '1\n2\n3\n4\n5\n6\n'));
    });

    it('has an empty stdin', async () => {
      expect(await run('cat; echo done')).toEqual(exited(0, 'done\n'));
    });

    it('sees the environment that it is given, and no other', async () => {
      const { output } = await run('env', { env: { GIVEN: 'a b\n"c"', EMPTY: '' } });
      const names = [...output.matchAll(/^([A-Za-z_]+)=/gm)].map((match) => match[1]);
      const known = ['BELAY_COMMAND_ID', 'OLDPWD', 'PWD', 'SHLVL', '_'];
      expect(names.filter((name) => !known.includes(name ?? '')).sort()).toEqual([
        'EMPTY',
        'GIVEN',
        'HOME',
        'LANG',
        'PATH',
        'TMPDIR',
      ]);
      expect(output).toContain('GIVEN=a b\n"c"\n');
    });

    it('is given its environment past the command lines, which every user of the machine can read', async () => {
      const value = sleepMark();
      const controller = new AbortController();
      let shown: number[] | null = null;
      await run('echo $GIVEN; sleep 60', {
        env: { GIVEN: value },
        signal: controller.signal,
        onOutput: () => {
          shown = processesWith(value);
          controller.abort();
        },
      });
      expect(shown).toEqual([]);
    });

    it('may be longer than one argument of a program', async () => {
      const script = `: ${'x'.repeat(200_000)}\necho "$((40 + 2))"`;
      expect(await run(script)).toEqual(exited(0, '42\n'));
    });

    it('keeps what it writes in its workspace and its home for the next one', async () => {
      expect(await run('echo kept > file.txt; echo mine > ~/own.txt')).toEqual(exited(0, ''));
      expect(await run('cat file.txt ~/own.txt; pwd')).toEqual(
        exited(
          0,
          require === 'landlock' ? expect.stringMatching(/^kept\nmine\n\/.*\/ws\n$/) : `kept\nmine\n${folders.ws}\n`,
        ),
      );
      expect(folders.read('file.txt')).toBe('kept\n');
    });

    it('finds the Node that belay would find', async () => {
      const { output } = await run('node -p process.version; command -v npm >/dev/null && echo npm');
      expect(output).toBe(`${process.version}\nnpm\n`);
    });

    it('does not wait for a background child that holds its output, and ends it', async () => {
      const mark = sleepMark();
      expect(await run(`sleep ${mark} & setsid sleep ${mark} & echo main`)).toEqual(exited(0, 'main\n'));
      expect(processesWith(mark)).toEqual([]);
    });

    it.each([
      { when: 'at once', before: ':' },
      { when: 'after many others', before: 'for i in {1..100}; do /bin/true & done; wait' },
      { when: 'late', before: 'sleep 0.4' },
    ])('leaves nothing behind that it detached $when', async ({ before }) => {
      const mark = sleepMark();
      const detached = `(setsid nohup sleep ${mark} > /dev/null 2>&1 &)`;
      expect(await run(`${before}; ${detached}; echo main`)).toEqual(exited(0, 'main\n'));
      expect(processesWith(mark)).toEqual([]);
    });

    it('is ended with all that it started when its time is over', async () => {
      const mark = sleepMark();
      const end = await run(`echo begun; setsid nohup sh -c 'sleep ${mark}; :' & sleep ${mark}`, { timeoutMs: 700 });
      expect(end).toEqual({
        reason: 'timed_out',
        exitCode: null,
        detail: 'It ran longer than its time of 700 ms.',
        output: 'begun\n',
        network: [],
        durationMs: expect.any(Number),
      });
      expect(processesWith(mark)).toEqual([]);
    });

    it('is ended with all that it started when the run is cancelled, also before it began', async () => {
      const mark = sleepMark();
      const controller = new AbortController();
      const end = await run(`setsid sleep ${mark} & echo begun; trap '' TERM INT; sleep ${mark}`, {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      });
      expect(end).toMatchObject({ reason: 'cancelled', exitCode: null, detail: 'The run was cancelled.' });
      expect(processesWith(mark)).toEqual([]);
      expect(await run('echo never', { signal: AbortSignal.abort() })).toMatchObject({
        reason: 'cancelled',
        output: '',
      });
    });

    it('leaves nothing behind, at whatever moment it is cancelled', async () => {
      const mark = sleepMark();
      const reasons = new Set<string>();
      for (let afterMs = 0; afterMs < 60; afterMs += 3) {
        const controller = new AbortController();
        const end = run(`setsid sleep ${mark} & exec sleep ${mark}`, { signal: controller.signal });
        await delay(afterMs);
        controller.abort();
        reasons.add((await end).reason);
      }
      expect([...reasons]).toEqual(['cancelled']);
      expect(processesWith(mark)).toEqual([]);
    });

    it('waits for a slow reader instead of filling memory', async () => {
      let bytes = 0;
      let most = 0;
      const before = process.memoryUsage().rss;
      const end = await run('head -c 200000000 /dev/zero', {
        async onOutput(chunk) {
          bytes += chunk.length;
          await null;
          most = Math.max(most, process.memoryUsage().rss - before);
        },
      });
      expect({ reason: end.reason, bytes }).toEqual({ reason: 'exited', bytes: 200_000_000 });
      expect(most).toBeLessThan(80 * MIB);
    });

    it('stops reading while its reader is busy, and can still be cancelled', async () => {
      let chunks = 0;
      const controller = new AbortController();
      const end = await run('yes', {
        signal: controller.signal,
        onOutput() {
          chunks++;
          setTimeout(() => controller.abort(), 100);
          return new Promise(() => undefined);
        },
      });
      expect({ reason: end.reason, chunks }).toEqual({ reason: 'cancelled', chunks: 1 });
    });

    it('is cancelled when its reader fails', async () => {
      const end = await run('yes', { onOutput: () => Promise.reject(new Error('disk full')) });
      expect(end).toMatchObject({
        reason: 'cancelled',
        exitCode: null,
        detail: "What reads the command's output failed: disk full.",
      });
    });

    it('is one of many at once, each with its own output', async () => {
      const ends = await Promise.all(Array.from({ length: 20 }, (_, index) => run(`echo ${index}`)));
      expect(ends.map(({ output }) => output)).toEqual(ends.map((_, index) => `${index}\n`));
    });

    it('cannot write a file larger than allowed', async () => {
      const { output } = await runIn(sandbox, folders, 'ulimit -f; ulimit -c');
      expect(output).toBe(`${1024 * 1024}\n0\n`);
    });

    it('does not run where it cannot, and says why', async () => {
      const cases = [
        { script: 'echo \0', workdir: folders.ws },
        { script: 'echo', workdir: `${folders.ws}/missing` },
      ];
      const ends = await Promise.all(cases.map(({ script, workdir }) => run(script, { workdir })));
      expect(ends).toEqual(
        cases.map(() =>
          expect.objectContaining({
            reason: 'failed_to_start',
            exitCode: null,
            output: '',
            detail: expect.any(String),
          }),
        ),
      );
    });
  });
});
