import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { commitAll, createBench, runCli, writeCassette } from '../scenario.ts';
import { USERS } from '../users.ts';
import {
  createFolders,
  type Folders,
  IS_LINUX,
  mountOf,
  processesWith,
  readOf,
  shellsWith,
  sleepMark,
} from './fixture.ts';

const PROGRAM = ['--import', 'tsx', path.join(import.meta.dirname, 'fixtures/harness.ts')];

/** Kills belay so long after it told that it is about to start a command. */
function killAtCommand(afterMs: number): (stdout: string, child: ChildProcess) => void {
  let isAtWork = false;
  return (stdout, child) => {
    if (isAtWork || !stdout.includes('"item.started"')) return;
    isAtWork = true;
    setTimeout(() => child.kill('SIGKILL'), afterMs);
  };
}

describe.skipIf(!IS_LINUX)("what belay's own process has to do with its commands", () => {
  let folders: Folders;
  beforeEach(() => {
    folders = createFolders();
  });
  afterEach(() => folders.remove());
  const orders = (mode: 'workspace-write' | 'off', script: string): string =>
    JSON.stringify({
      mode,
      ws: folders.ws,
      home: folders.home,
      env: {},
      mounts: [mountOf(folders.ws, 'write')],
      sockets: [],
      scripts: { it: script },
    });

  /** Kills belay once so many processes have the mark, and waits for those to end: what is left of them. */
  async function leftByKilled(
    given: string,
    { mark, processes, meet }: { mark: string; processes: number; meet?: () => void },
  ) {
    const harness = spawn(process.execPath, PROGRAM, {
      env: { ...process.env, TMPDIR: folders.outside },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    harness.stdin.end(given);
    const marked = () => [...processesWith(mark), ...shellsWith(mark)];
    while (marked().length < processes) await delay(20);
    meet?.();
    harness.kill('SIGKILL');
    await once(harness, 'exit');
    const deadline = Date.now() + 5_000;
    while (marked().length > 0 && Date.now() < deadline) await delay(20);
    return marked();
  }

  it.each(['workspace-write', 'off'] as const)(
    'ends with it: when belay is killed, so is what a command started (mode %s)',
    async (mode) => {
      const mark = sleepMark();
      const given = orders(mode, `setsid nohup sleep ${mark} & sleep ${mark}`);
      expect(await leftByKilled(given, { mark, processes: 2 })).toEqual([]);
    },
  );

  it('ends nothing else with it that only names its mark', async () => {
    const mark = sleepMark();
    let bystander: ChildProcess | null = null;
    const meet = (): void => {
      const [pid = 0] = processesWith(mark);
      const [, id = ''] = /BELAY_COMMAND_ID=(belay-[\w-]+)\./.exec(readOf(pid, 'environ')) ?? [];
      expect(id).not.toBe('');
      const args = ['-c', 'read -r', `log of ${id}`, `: ${id}`, `BELAY_COMMAND_ID=${id}`];
      bystander = spawn('bash', args, {
        env: { PATH: '/usr/bin:/bin', ABOUT: id },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
    };
    onTestFinished(() => void bystander?.kill());
    expect(await leftByKilled(orders('off', `sleep ${mark}`), { mark, processes: 1, meet })).toEqual([]);
    expect(bystander).toMatchObject({ exitCode: null, signalCode: null });
  });

  it.each(USERS.filter(({ works }) => works))(
    'ends with it however early in a command that is ($who)',
    async ({ uid }) => {
      const mark = sleepMark();
      const bench = createBench({ 'belay.yml': 'version: 1\n' }, uid);
      try {
        commitAll(bench);
        const command = `sleep ${mark}`;
        const cassette = writeCassette(bench, [{ tool_calls: [{ name: 'shell', input: { command } }] }]);
        const left = () => [...processesWith(mark), ...processesWith(command)];
        // Each moment of the first 36 ms, in which launchers and bubblewrap come one after the other.
        for (let afterMs = 0; afterMs < 36; afterMs += 3) {
          const args = ['run', 'go', '--ephemeral', '--replay', cassette];
          const end = await runCli(args, bench, { onOutput: killAtCommand(afterMs) });
          expect(end.signal).toBe('SIGKILL');
          await vi.waitFor(() => expect(left()).toEqual([]), 5_000);
        }
      } finally {
        bench.remove();
      }
    },
    120_000,
  );

  it('ends with it what was set up ahead', async () => {
    const mark = sleepMark();
    // A script that is too long for it leaves what the two before have called for.
    const scripts = { first: 'true', second: 'true', third: `: ${'x'.repeat(200_000)}\nsleep ${mark}` };
    const all = { ...JSON.parse(orders('workspace-write', '')), scripts, env: { MARK: mark }, moreFollow: true };
    // A shell for each fence, and the program of the one that runs.
    expect(await leftByKilled(JSON.stringify(all), { mark, processes: 3 })).toEqual([]);
  });

  it.each(['workspace-write', 'off'] as const)('keeps to itself what was left open for it (mode %s)', (mode) => {
    const kept = folders.write(path.join(folders.outside, 'kept'), 'kept\n');
    // Node closes the low ones of what it inherits; runners and shells use high ones.
    const start = (args: readonly string[], input: string): string => {
      const opened = ['-c', 'exec 200< "$0"; exec "$@"', kept, process.execPath, ...args];
      return spawnSync('bash', opened, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] }).stdout;
    };
    const control = "require('child_process').spawnSync('bash', ['-c', 'cat <&200'], {stdio: 'inherit'})";
    expect(start(['-e', control], '')).toBe('kept\n');
    // No pipeline: while bash sets one up, its own pipe shows among its descriptors.
    const script = 'cat <&200 || echo closed; ls /proc/$$/fd; true';
    // The second one is made in what was staged for the first, where belay is root.
    const given = { ...JSON.parse(orders(mode, '')), scripts: { first: script, second: script } };
    const end = { reason: 'exited', output: 'bash: line 1: 200: Bad file descriptor\nclosed\n0\n1\n2\n' };
    expect(JSON.parse(start(PROGRAM, JSON.stringify(given)))).toMatchObject({ results: { first: end, second: end } });
  });
});
