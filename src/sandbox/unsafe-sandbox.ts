import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { type Bounds, CLOSE_DESCRIPTORS, exitDetail, fileKibOf } from './bounds.ts';
import { watchBounds } from './bounds-watch.ts';
import { runProcess } from './command-process.ts';
import { createOutputPipes, type OutputPipes } from './output-pipes.ts';
import type { CommandEnd, Sandbox, SandboxedCommand, SandboxStatus } from './sandbox.ts';
import { createScratch, type Scratch } from './scratch.ts';
import { endSurvivors, killSurvivors, SURVIVOR_MARK } from './survivors.ts';

const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

export interface UnsafeSetup {
  status: SandboxStatus;
  /** PATH is taken from it, no more. */
  env: Readonly<Record<string, string | undefined>>;
  /** `processes` has no effect: the kernel would count everything that the user runs. */
  bounds: Bounds;
  /** Program and arguments that the command's shell is started through, and what only that fence shows; none without one. */
  fence?: (command: SandboxedCommand, temporary: string) => readonly string[];
}

/**
 * No fence: commands run as belay's user with all that it may do. What is kept of the port: the environment is the command's own, and
 * nothing that a command started outlives it (on Linux; elsewhere only what stays in its process group).
 */
export function createUnsafeSandbox({ status, env, bounds, fence }: UnsafeSetup): Sandbox {
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
        fence,
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
  fence: UnsafeSetup['fence'];
}

async function runUnfenced(
  command: SandboxedCommand,
  { signal, path, bounds, pipes, scratch, fence }: Run,
): Promise<CommandEnd> {
  const moved = command.mounts.find(({ from, to, access }) => access !== 'hidden' && from !== to);
  if (moved !== undefined) return failed(`Without a sandbox, ${moved.from} cannot be shown at ${moved.to}.`);
  if (!existsSync(command.workdir)) return failed(`${command.workdir} does not exist.`);
  const folders = [...command.mounts.filter(({ access }) => access === 'write').map(({ from }) => from), command.home];
  let printedBytes = 0;
  const id = randomUUID();
  const isLong = Buffer.byteLength(command.script) > MAX_ARGUMENT_BYTES;
  try {
    const temporary = fence === undefined ? os.tmpdir() : scratch.folder(`tmp-${id}`);
    const prefix = fence?.(command, temporary) ?? [];
    const script = isLong ? [scratch.file(`script-${id}`, command.script)] : ['-c', command.script];
    const shell = ['-p', '-c', limits(bounds), 'bash', ...script];
    const startedAtMs = performance.now();
    const end = await runProcess({
      launch: {
        start: (outputFd) =>
          spawn(prefix[0] ?? 'bash', [...prefix.slice(1), ...(prefix.length > 0 ? ['/bin/bash'] : []), ...shell], {
            cwd: command.workdir,
            detached: true,
            env: {
              ...(path === undefined ? {} : { PATH: path }),
              ...command.env,
              HOME: command.home,
              TMPDIR: temporary,
              [SURVIVOR_MARK]: id,
            },
            stdio: ['ignore', outputFd, outputFd],
          }),
        kill: (child) => {
          if (child.pid !== undefined) killSurvivors({ group: child.pid, id, startedAtMs });
        },
        settle: (child) => endSurvivors({ group: child.pid ?? 0, id, startedAtMs }),
        watch: ({ pid }, end) =>
          pid === undefined || process.platform !== 'linux'
            ? () => undefined
            : watchBounds(pid, { bounds, folders, printed: () => printedBytes, boundsMemory: false }, end),
      },
      pipes,
      timeoutMs: command.timeoutMs,
      onOutput: (chunk) => {
        printedBytes += chunk.length;
        return command.onOutput(chunk);
      },
      signal,
    });
    const { cause, durationMs, detail } = end;
    if (cause === 'not_started') return failed(`The command could not be started: ${detail ?? 'unknown'}.`);
    if (cause !== 'exited') return { reason: cause, exitCode: null, durationMs, detail };
    const exitCode = end.signal === null ? end.exitCode : 128 + os.constants.signals[end.signal];
    return { reason: 'exited', exitCode, durationMs, detail: exitDetail(exitCode, bounds) };
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
