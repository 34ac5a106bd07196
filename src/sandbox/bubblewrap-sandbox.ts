import { spawn } from 'node:child_process';
import { closeSync, openSync, realpathSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Adoption, createAdoption } from './adopt-folders.ts';
import { type Bounds, exitDetail, memoryDetail } from './bounds.ts';
import { type WatchOptions, watchBounds } from './bounds-watch.ts';
import { bubblewrapArgs, innerCommand } from './bubblewrap-args.ts';
import { explainFailure } from './bubblewrap-failure.ts';
import { type BubblewrapWords, createWords } from './bubblewrap-words.ts';
import { type Cgroup, type CgroupHome, createCgroup } from './cgroup.ts';
import { type Launch, runProcess } from './command-process.ts';
import type { CommandUser } from './command-user.ts';
import { type BridgeSetup, type Bridges, type CommandBridge, createBridges } from './egress/bridges.ts';
import { endFence } from './end-fence.ts';
import { launchCommand } from './launch-command.ts';
import { planMounts } from './mount-plan.ts';
import type { OutputPipes } from './output-pipes.ts';
import { isRunning } from './process-tree.ts';
import type { CommandEnd, Mount, Sandbox, SandboxedCommand, SandboxStatus } from './sandbox.ts';
import type { Scratch } from './scratch.ts';
import type { StageSource } from './stage-launcher.ts';
import type { SystemView } from './system-view.ts';

/** What one run's commands have in common. */
export interface BubblewrapSetup {
  bwrap: string;
  user: CommandUser;
  view: SystemView;
  overlays: Readonly<Record<string, string>>;
  masked: readonly { path: string; shape: 'file' | 'folder' }[];
  bounds: Bounds;
  /** The workspace may not be written, whatever a command's mounts say. */
  readOnly: boolean;
  /** Folders of the user's: their files keep their owner. */
  given: readonly string[];
  scratch: Scratch;
  filterFile: string;
  pipes: OutputPipes;
  cgroups: CgroupHome | null;
  /** What leads out of a fence; `perl: null` where nothing can. */
  bridge: BridgeSetup;
}

/** The kernel takes no longer argument; such a script is read from a file. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const INNER_SCRIPT = '/run/belay-script';

/** Plain child_process, not execa: five descriptors, one of them shared, a kill that must not wait for `close`, and 100 ms less to load. */
export function createBubblewrapSandbox(setup: BubblewrapSetup, status: SandboxStatus): Sandbox {
  const closing = new AbortController();
  const running = new Set<Promise<CommandEnd>>();
  const adopt = adopts(setup.user) ? createAdoption(setup.user, setup.given) : null;
  const bridges = createBridges(setup.bridge, setup.scratch.dir);
  let count = 0;
  return {
    status,
    run(command, signal) {
      const end = runCommand(setup, command, {
        signal: AbortSignal.any([signal, closing.signal]),
        id: count++,
        adopt,
        bridges,
      });
      running.add(end);
      void end.finally(() => running.delete(end));
      return end;
    },
    async close() {
      closing.abort();
      await Promise.all(running);
      setup.scratch.remove();
      if (setup.user.kind === 'staged') setup.user.release();
    },
  };
}

async function runCommand(
  setup: BubblewrapSetup,
  command: SandboxedCommand,
  run: { signal: AbortSignal; id: number; adopt: Adoption | null; bridges: Bridges },
): Promise<CommandEnd> {
  const failed = (detail: string): CommandEnd => ({ reason: 'failed_to_start', exitCode: null, durationMs: 0, detail });
  let cgroup: Cgroup | null = null;
  let scriptFile: string | null = null;
  let bridge: CommandBridge | null = null;
  try {
    const refusal = refusalOf(command);
    if (refusal !== null) return failed(refusal);
    const plan = planMounts(setup.readOnly ? command.mounts.map(withoutWriting) : command.mounts);
    if (plan.kind === 'refused') return failed(plan.reason);
    const isLong = Buffer.byteLength(command.script) > MAX_ARGUMENT_BYTES;
    if (isLong) scriptFile = setup.scratch.file(`script-${run.id}`, command.script);
    cgroup = setup.cgroups === null ? null : createCgroup(setup.cgroups, setup.bounds);

    bridge = await run.bridges.open(command);
    const home = realpathSync(command.home);
    const shown = [
      ...plan.steps,
      ...(bridge?.steps ?? []),
      ...(scriptFile === null ? [] : [{ kind: 'read' as const, from: scriptFile, to: INNER_SCRIPT }]),
    ];
    const sources: StageSource[] = [
      { path: home, access: 'write' },
      { path: setup.scratch.dir, access: 'read' },
      ...setup.view.extras.map(({ from }) => ({ path: from, access: 'read' as const })),
      ...plan.steps.flatMap((step) => (step.kind === 'hidden' ? [] : [{ path: step.from, access: step.kind }])),
    ];
    if (run.adopt !== null) {
      for (const { path, access } of sources) if (access === 'write') run.adopt(path, home);
    }
    const launch = launchCommand({
      user: setup.user,
      bwrap: setup.bwrap,
      sources,
      cgroupFiles: cgroup?.procsFiles ?? [],
    });
    const fence = {
      view: setup.view,
      steps: shown,
      home,
      emptyFile: setup.scratch.emptyFile,
      overlays: { ...setup.overlays, ...bridge?.overlays },
      masked: setup.masked,
    };
    const args = [
      ...launch.args,
      ...bubblewrapArgs({
        ...fence,
        env: { ...command.env, ...bridge?.env },
        workdir: command.workdir,
        bounds: setup.bounds,
        locate: launch.locate,
      }),
      '--',
      ...innerCommand(isLong ? [INNER_SCRIPT] : ['-c', command.script], setup.bounds, bridge?.program),
    ];
    const words = createWords();
    bridge?.attach(() => words.firstPid());
    let printedBytes = 0;
    const end = await runProcess({
      launch: fencedLaunch({
        setup,
        file: launch.file,
        args,
        fds: launch.fds,
        words,
        watch: {
          bounds: setup.bounds,
          folders: sources.filter(({ access }) => access === 'write').map(({ path }) => path),
          printed: () => printedBytes,
          boundsMemory: cgroup?.boundsMemory === true,
        },
      }),
      pipes: setup.pipes,
      timeoutMs: command.timeoutMs,
      onOutput: (chunk) => {
        printedBytes += chunk.length;
        return command.onOutput(chunk);
      },
      signal: run.signal,
    });
    const { durationMs } = end;
    if (end.cause === 'not_started') return failed(`The sandbox could not be started: ${end.detail ?? 'unknown'}.`);
    if (end.cause !== 'exited') return { reason: end.cause, exitCode: null, durationMs, detail: end.detail };
    const exitCode = words.exitCode();
    if (cgroup?.ranOut() === true && exitCode !== 0)
      return { reason: 'killed', exitCode: null, durationMs, detail: memoryDetail(setup.bounds) };
    if (exitCode !== null && bridge?.isReady() === false)
      return { ...failed(`What leads out of the sandbox could not be opened: ${words.stderr().trim()}`), durationMs };
    if (exitCode !== null)
      return { reason: 'exited', exitCode, durationMs, detail: exitDetail(exitCode, setup.bounds) };
    if (end.signal !== null)
      return {
        reason: 'killed',
        exitCode: null,
        durationMs,
        detail: `The sandbox was ended from outside by ${end.signal}.`,
      };
    return { ...failed(explainFailure(words.stderr())), durationMs };
  } catch (error) {
    // The port never rejects: what cannot be planned or started did not run.
    return failed(`The sandbox could not be started: ${error instanceof Error ? error.message : String(error)}.`);
  } finally {
    await bridge?.close();
    await cgroup?.remove();
    if (scriptFile !== null) rmSync(scriptFile, { force: true });
  }
}

function adopts(user: CommandUser): boolean {
  return user.kind === 'setpriv' || (user.kind === 'staged' && user.adopts);
}

/** `sandbox.mode: read-only` holds for every command, whatever its mounts say; HOME and /tmp stay writable. */
function withoutWriting(mount: Mount): Mount {
  return mount.access === 'write' ? { ...mount, access: 'read' } : mount;
}

function refusalOf({ env, script }: SandboxedCommand): string | null {
  const bad = Object.entries(env).find(([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'));
  if (bad !== undefined) return `The environment variable ${JSON.stringify(bad[0])} cannot be set.`;
  return script.includes('\0') ? 'The command holds a NUL byte.' : null;
}

interface FencedLaunch {
  setup: BubblewrapSetup;
  file: string;
  args: readonly string[];
  fds: readonly number[];
  words: BubblewrapWords;
  watch: WatchOptions;
}

function fencedLaunch({ setup, file, args, fds, words, watch }: FencedLaunch): Launch {
  return {
    start(outputFd) {
      const filterFd = openSync(setup.filterFile, 'r');
      try {
        // bubblewrap's first process keeps the environment it was started with in /proc/1/environ, readable inside.
        const env = { PATH: '/usr/bin:/bin' };
        const child = spawn(file, args, {
          env,
          cwd: '/',
          stdio: ['ignore', outputFd, 'pipe', filterFd, 'pipe', ...fds],
        });
        words.listen(child);
        return child;
      } finally {
        closeSync(filterFd);
      }
    },
    kill: (child) => void endFence(child),
    async settle() {
      await words.ended;
      const pid = words.firstPid();
      while (pid !== null && isRunning(pid)) await delay(1);
    },
    watch(child, kill) {
      return child.pid === undefined ? () => undefined : watchBounds(child.pid, watch, kill);
    },
  };
}
