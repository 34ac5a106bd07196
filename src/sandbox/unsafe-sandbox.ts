import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Bounds, CLOSE_DESCRIPTORS, fileKibOf, memoryDetail } from './bounds.ts';
import { runProcess } from './command-process.ts';
import { watchMemory } from './memory-watch.ts';
import { createOutputPipes, type OutputPipes } from './output-pipes.ts';
import { allProcesses, descendants, groupOf, isRunning, readProc } from './process-tree.ts';
import type { CommandEnd, Sandbox, SandboxedCommand, SandboxStatus } from './sandbox.ts';
import { createScratch, type Scratch } from './scratch.ts';

/** Carried by everything that a command starts, however it detaches. */
const MARKER = 'BELAY_COMMAND_ID';
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

const SETTLE_MS = 1_500;

export interface UnsafeSetup {
  status: SandboxStatus;
  /** PATH is taken from it, no more. */
  env: Readonly<Record<string, string | undefined>>;
  /** `processes` has no effect: the kernel would count everything that the user runs. */
  bounds: Bounds;
}

/**
 * No fence: commands run as belay's user with all that it may do. What is kept of the port: the environment is the command's own, and
 * nothing that a command started outlives it (on Linux; elsewhere only what stays in its process group).
 */
export function createUnsafeSandbox({ status, env, bounds }: UnsafeSetup): Sandbox {
  const closing = new AbortController();
  const running = new Set<Promise<CommandEnd>>();
  const { PATH: searchPath } = env;
  let scratch: Scratch | null = null;
  let pipes: OutputPipes | null = null;
  return {
    status,
    run(command, signal) {
      scratch ??= createScratch();
      pipes ??= createOutputPipes(scratch.dir);
      const end = runUnfenced(command, {
        signal: AbortSignal.any([signal, closing.signal]),
        path: searchPath,
        bounds,
        pipes,
        scratch,
      });
      running.add(end);
      void end.finally(() => running.delete(end));
      return end;
    },
    async close() {
      closing.abort();
      await Promise.all(running);
      scratch?.remove();
    },
  };
}

interface Run {
  signal: AbortSignal;
  path: string | undefined;
  bounds: Bounds;
  pipes: OutputPipes;
  scratch: Scratch;
}

async function runUnfenced(
  command: SandboxedCommand,
  { signal, path, bounds, pipes, scratch }: Run,
): Promise<CommandEnd> {
  const moved = command.mounts.find(({ from, to, access }) => access !== 'hidden' && from !== to);
  if (moved !== undefined) return failed(`Without a sandbox, ${moved.from} cannot be shown at ${moved.to}.`);
  if (!existsSync(command.workdir)) return failed(`${command.workdir} does not exist.`);
  const id = randomUUID();
  const isLong = Buffer.byteLength(command.script) > MAX_ARGUMENT_BYTES;
  try {
    const script = isLong ? [scratch.file(`script-${id}`, command.script)] : ['-c', command.script];
    const end = await runProcess({
      launch: {
        start: (outputFd) =>
          spawn('bash', ['-p', '-c', limits(bounds), 'bash', ...script], {
            cwd: command.workdir,
            detached: true,
            env: {
              ...(path === undefined ? {} : { PATH: path }),
              ...command.env,
              HOME: command.home,
              TMPDIR: os.tmpdir(),
              [MARKER]: id,
            },
            stdio: ['ignore', outputFd, outputFd],
          }),
        kill: (child) => {
          if (child.pid !== undefined) killSurvivors(child.pid, id);
        },
        settle: (child) => endSurvivors(child.pid ?? 0, id),
        watch: ({ pid }, end) =>
          pid === undefined || process.platform !== 'linux'
            ? () => undefined
            : watchMemory(pid, bounds.memoryBytes, () => end(memoryDetail(bounds))),
      },
      pipes,
      timeoutMs: command.timeoutMs,
      onOutput: (chunk) => command.onOutput(chunk),
      signal,
    });
    const { cause, durationMs, detail } = end;
    if (cause === 'not_started') return failed(`The command could not be started: ${detail ?? 'unknown'}.`);
    if (cause !== 'exited') return { reason: cause, exitCode: null, durationMs, detail };
    const exitCode = end.signal === null ? end.exitCode : 128 + os.constants.signals[end.signal];
    return { reason: 'exited', exitCode, durationMs, detail: null };
  } catch (error) {
    return failed(`The command could not be started: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function limits({ fileSizeBytes }: Bounds): string {
  return `${CLOSE_DESCRIPTORS}; ulimit -c 0; ulimit -f ${fileKibOf(fileSizeBytes)} 2>/dev/null; exec bash "$@"`;
}

function failed(detail: string): CommandEnd {
  return { reason: 'failed_to_start', exitCode: null, durationMs: 0, detail };
}

/** Until nothing that the command started runs; what the kernel does not let go of in time is left. */
async function endSurvivors(group: number, id: string): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (killSurvivors(group, id) > 0 && performance.now() < deadline) await delay(5);
}

/** Sends SIGKILL to the command's process group and to all that carries its marker, with their children; returns how many there were. */
function killSurvivors(group: number, id: string): number {
  if (process.platform !== 'linux') return kill(-group) ? 1 : 0;
  const all = allProcesses();
  const marked = all.filter((pid) => readProc(pid, 'environ')?.includes(`${MARKER}=${id}\0`) === true);
  // Reading every process's group is slow, and most commands leave no group behind.
  const grouped = kill(-group, 0) ? all.filter((pid) => groupOf(pid) === group) : [];
  const own = [...marked, ...grouped];
  const running = [...new Set(own.flatMap(descendants))].filter((pid) => pid !== process.pid && isRunning(pid));
  for (const pid of running) kill(pid);
  return running.length;
}

function kill(pid: number, signal: NodeJS.Signals | 0 = 'SIGKILL'): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')) return false;
    throw error;
  }
}
