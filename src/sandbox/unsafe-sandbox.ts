import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, lstatSync } from 'node:fs';
import os from 'node:os';
import { AWAIT_SCRIPT, overlookEarlyEnd, sendScript } from './awaited-script.ts';
import { type Bounds, CLOSE_DESCRIPTORS, exitDetail, fileKibOf } from './bounds.ts';
import { watchBounds } from './bounds-watch.ts';
import { attendProcess, type Begun, beginProcess, type Launch } from './command-process.ts';
import { hasEnded } from './end-fence.ts';
import { createOutputPipes, type OutputPipes } from './output-pipes.ts';
import { lastProcess } from './process-tree.ts';
import type { CommandEnd, Sandbox, SandboxedCommand, SandboxStatus } from './sandbox.ts';
import { createScratch, type Scratch } from './scratch.ts';
import { type Ahead, createStandby, type Standby } from './standby.ts';
import { type CommandTrace, endSurvivors, killSurvivors, SURVIVOR_MARK } from './survivors.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

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
  const standby = createStandby<Shell>();
  const watchdog = createWatchdog();
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
        standby,
        watchdog,
      });
      running.add(end);
      void end.finally(() => running.delete(end));
      return end;
    },
    rest: () => standby.close(),
    async close() {
      closing.abort();
      await Promise.all(running);
      await standby.close();
      await watchdog.close();
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
  standby: Standby<Shell>;
  watchdog: Watchdog;
}

/** The shell of a command, started. */
interface Shell extends Ahead {
  begun: Begun;
  launch: Launch;
  /** Hands over the script that it waits for, if it does. */
  release(script: string): void;
}

async function runUnfenced(command: SandboxedCommand, run: Run): Promise<CommandEnd> {
  const { signal, bounds, scratch, fence } = run;
  const moved = command.mounts.find(({ from, to, access }) => access !== 'hidden' && from !== to);
  if (moved !== undefined) return failed(`Without a sandbox, ${moved.from} cannot be shown at ${moved.to}.`);
  if (!existsSync(command.workdir)) return failed(`${command.workdir} does not exist.`);
  const folders = [...command.mounts.filter(({ access }) => access === 'write').map(({ from }) => from), command.home];
  let printedBytes = 0;
  const isLong = Buffer.byteLength(command.script) > MAX_ARGUMENT_BYTES;
  const isPlain = command.moreFollow === true && fence === undefined && !isLong && process.platform === 'linux';
  try {
    const key = keyOf(command);
    const ready = isPlain ? await run.standby.take(key) : null;
    if (ready === null && signal.aborted) return { ...failed('The run was cancelled.'), reason: 'cancelled' };
    const script = isLong ? [scratch.file(`script-${randomUUID()}`, command.script)] : ['-c', command.script];
    const shell = ready ?? (await openShell(command, run, script));
    const attended = attendProcess(shell.begun, {
      launch: {
        ...shell.launch,
        release: () => shell.release(command.script),
        watch: ({ pid }, end) =>
          pid === undefined || process.platform !== 'linux'
            ? () => undefined
            : watchBounds(pid, { bounds, folders, printed: () => printedBytes, boundsMemory: false }, end),
      },
      timeoutMs: command.timeoutMs,
      onOutput: (chunk) => {
        printedBytes += chunk.length;
        return command.onOutput(chunk);
      },
      signal,
    });
    // While this one runs: starting a process holds up belay for 3 ms, which it has now.
    if (isPlain && !signal.aborted) run.standby.prepare(key, () => openShell(command, run, null));
    const end = await attended;
    const { cause, durationMs, detail } = end;
    if (cause === 'not_started') return failed(`The command could not be started: ${detail ?? 'unknown'}.`);
    if (cause !== 'exited') return { reason: cause, exitCode: null, durationMs, detail };
    const exitCode = end.signal === null ? end.exitCode : 128 + os.constants.signals[end.signal];
    return { reason: 'exited', exitCode, durationMs, detail: exitDetail(exitCode, bounds) };
  } catch (error) {
    return failed(`The command could not be started: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Equal for two commands that the same shell would do for. */
function keyOf({ workdir, env, home }: SandboxedCommand): string {
  const { dev, ino } = lstatSync(workdir);
  return JSON.stringify([workdir, dev, ino, env, home]);
}

/** `script`: arguments of the command's shell; null: it waits for its script on stdin. */
async function openShell(
  command: SandboxedCommand,
  { path, bounds, pipes, scratch, fence, watchdog }: Run,
  script: readonly string[] | null,
): Promise<Shell> {
  const id = `${watchdog.mark}.${randomUUID()}`;
  const temporary = fence === undefined ? os.tmpdir() : scratch.folder(`tmp-${randomUUID()}`);
  const prefix = fence?.(command, temporary) ?? [];
  const shell = ['-p', '-c', limits(bounds, script === null), 'bash', ...(script ?? [])];
  const trace: CommandTrace = { group: 0, id, startedAtMs: performance.now() };
  const launch: Launch = {
    start(outputFd) {
      const child = spawn(
        prefix[0] ?? 'bash',
        [...prefix.slice(1), ...(prefix.length > 0 ? ['/bin/bash'] : []), ...shell],
        {
          cwd: command.workdir,
          detached: true,
          env: {
            ...(path === undefined ? {} : { PATH: path }),
            ...command.env,
            HOME: command.home,
            TMPDIR: temporary,
            [SURVIVOR_MARK]: id,
          },
          stdio: [script === null ? 'pipe' : 'ignore', outputFd, outputFd],
        },
      );
      overlookEarlyEnd(child);
      trace.group = child.pid ?? 0;
      return child;
    },
    kill: () => {
      if (trace.group !== 0) killSurvivors(trace);
    },
    settle: () => endSurvivors(trace),
  };
  watchdog.start();
  const begun = await beginProcess(launch, pipes);
  const { child, exited } = begun;
  return {
    begun,
    launch,
    release(awaited) {
      if (child.stdin === null) return;
      trace.startedAtMs = performance.now();
      trace.lastIdBefore = lastProcess() ?? undefined;
      sendScript(child, awaited);
    },
    hasEnded: () => hasEnded(child),
    async end() {
      closeSync(begun.outputFd);
      child.stdin?.destroy();
      if (child.pid !== undefined) child.kill('SIGKILL');
      await exited;
    },
  };
}

function limits({ fileSizeBytes }: Bounds, waits: boolean): string {
  const setUp = `${CLOSE_DESCRIPTORS}; ulimit -c 0; ulimit -f ${fileKibOf(fileSizeBytes)} 2>/dev/null`;
  return waits ? `${setUp}; ${AWAIT_SCRIPT}; exec bash -c "$BELAY_SCRIPT" < /dev/null` : `${setUp}; exec bash "$@"`;
}

function failed(detail: string): CommandEnd {
  return { reason: 'failed_to_start', exitCode: null, durationMs: 0, detail };
}
