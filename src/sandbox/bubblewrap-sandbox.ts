import { rmSync } from 'node:fs';
import { type Adoption, createAdoption } from './adopt-folders.ts';
import { sendScript } from './awaited-script.ts';
import { type Bounds, exitDetail, memoryDetail } from './bounds.ts';
import { watchBounds } from './bounds-watch.ts';
import { AWAITED, innerCommand } from './bubblewrap-args.ts';
import type { BubblewrapSetup } from './bubblewrap-setup.ts';
import { attendProcess, type ProcessEnd } from './command-process.ts';
import type { CommandUser } from './command-user.ts';
import { type Bridges, type CommandBridge, createBridges } from './egress/bridges.ts';
import { type Fence, openFence } from './fence.ts';
import { type FenceParts, type FencePlan, planFence } from './fence-plan.ts';
import { createHeldStages, type HeldStages } from './held-stages.ts';
import type { CommandEnd, Sandbox, SandboxedCommand, SandboxStatus } from './sandbox.ts';
import { createStandby, type Standby } from './standby.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

/** The kernel takes no longer argument; such a script is read from a file. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const INNER_SCRIPT = '/run/belay-script';

/** Plain child_process, not execa: five descriptors, one of them shared, a kill that must not wait for `close`, and 100 ms less to load. */
export function createBubblewrapSandbox(setup: BubblewrapSetup, status: SandboxStatus): Sandbox {
  const closing = new AbortController();
  const running = new Set<Promise<CommandEnd>>();
  const adopt = adopts(setup.user) ? createAdoption(setup.user, setup.given) : null;
  const bridges = createBridges(setup.bridge, setup.scratch.dir);
  const standby = createStandby<Fence>();
  const stages = createHeldStages();
  const watchdog = createWatchdog();
  let count = 0;
  return {
    status,
    run(command, signal) {
      const either = AbortSignal.any([signal, closing.signal]);
      const end = runCommand(setup, command, {
        signal: either,
        id: count++,
        adopt,
        bridges,
        standby,
        stages,
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
      stages.close();
      setup.scratch.remove();
      if (setup.user.kind === 'staged') setup.user.release();
    },
  };
}

interface Run {
  signal: AbortSignal;
  id: number;
  adopt: Adoption | null;
  bridges: Bridges;
  standby: Standby<Fence>;
  stages: HeldStages;
  watchdog: Watchdog;
}

async function runCommand(setup: BubblewrapSetup, command: SandboxedCommand, run: Run): Promise<CommandEnd> {
  const { end, entered } = await tryCommand(setup, command, run);
  if (end.reason !== 'failed_to_start' || !entered) return end;
  // The script did not run. A machine may let root stage a namespace and not enter one again: then each command stages its own.
  run.stages.close();
  return (await tryCommand(setup, command, run)).end;
}

interface Tried {
  end: CommandEnd;
  /** Its fence was to be made in a namespace that another one had staged. */
  entered: boolean;
}

async function tryCommand(setup: BubblewrapSetup, command: SandboxedCommand, run: Run): Promise<Tried> {
  let scriptFile: string | null = null;
  let bridge: CommandBridge | null = null;
  try {
    const refusal = refusalOf(command);
    if (refusal !== null) return unstarted(failed(refusal));
    const isLong = Buffer.byteLength(command.script) > MAX_ARGUMENT_BYTES;
    if (isLong) scriptFile = setup.scratch.file(`script-${run.id}`, command.script);
    bridge = await run.bridges.open(command);
    const steps = scriptFile === null ? [] : [{ kind: 'read' as const, from: scriptFile, to: INNER_SCRIPT }];
    const plan = planFence({ setup, command, bridge, steps, adopt: run.adopt });
    if ('refusal' in plan) return unstarted(failed(plan.refusal));
    const isPlain = command.moreFollow === true && bridge === null && !isLong;
    const ready = isPlain ? await run.standby.take(plan.key) : null;
    if (ready === null && run.signal.aborted)
      return unstarted({ ...failed('The run was cancelled.'), reason: 'cancelled' });
    const script = isLong ? [INNER_SCRIPT] : ['-c', command.script];
    const program = innerCommand(script, { bounds: setup.bounds, mark: run.watchdog.mark, bridge: bridge?.program });
    const { stages, watchdog } = run;
    // The first one is the probe, which runs nothing of anybody else's.
    if (run.id === 0) watchdog.startLater();
    else watchdog.start();
    const fence = ready ?? (await openFence(setup, plan, { program, waits: false, stages }));
    bridge?.attach(() => fence.words.firstPid());
    try {
      const end = await attend(fence, { setup, plan, command, signal: run.signal });
      if (isPlain && !run.signal.aborted)
        run.standby.prepare(plan.key, () =>
          openAhead({ setup, command, bridge, steps, adopt: run.adopt }, plan.key, run),
        );
      return { end: await conclude(fence, { end, bounds: setup.bounds, bridge }), entered: fence.entered };
    } finally {
      await fence.cgroup?.remove();
    }
  } catch (error) {
    // The port never rejects: what cannot be planned or started did not run.
    const { message } = error instanceof Error ? error : new Error(String(error));
    return unstarted(failed(`The sandbox could not be started: ${message}.`));
  } finally {
    await bridge?.close();
    if (scriptFile !== null) rmSync(scriptFile, { force: true });
  }
}

/** Planned anew: mount points are looked at right before they are used. */
async function openAhead(parts: FenceParts, key: string, { stages, watchdog }: Run): Promise<Fence | null> {
  const plan = planFence(parts);
  if ('refusal' in plan || plan.key !== key) return null;
  const { mark } = watchdog;
  const program = innerCommand(AWAITED, { bounds: parts.setup.bounds, mark });
  return openFence(parts.setup, plan, { program, waits: true, stages });
}

interface Attendance {
  setup: BubblewrapSetup;
  plan: FencePlan;
  command: SandboxedCommand;
  signal: AbortSignal;
}

function attend({ begun, launch, cgroup }: Fence, { setup, plan, command, signal }: Attendance): Promise<ProcessEnd> {
  let printedBytes = 0;
  const watch = {
    bounds: setup.bounds,
    folders: plan.writable,
    printed: () => printedBytes,
    boundsMemory: cgroup?.boundsMemory === true,
  };
  return attendProcess(begun, {
    launch: {
      ...launch,
      release: (child) => sendScript(child, command.script),
      watch: ({ pid }, kill) => (pid === undefined ? () => undefined : watchBounds(pid, watch, kill)),
    },
    timeoutMs: command.timeoutMs,
    onOutput: (chunk) => {
      printedBytes += chunk.length;
      return command.onOutput(chunk);
    },
    signal,
  });
}

async function conclude(
  { words, cgroup }: Fence,
  { end, bounds, bridge }: { end: ProcessEnd; bounds: Bounds; bridge: CommandBridge | null },
): Promise<CommandEnd> {
  const { durationMs } = end;
  if (end.cause === 'not_started') return failed(`The sandbox could not be started: ${end.detail ?? 'unknown'}.`);
  if (end.cause !== 'exited') return { reason: end.cause, exitCode: null, durationMs, detail: end.detail };
  const exitCode = words.exitCode();
  if (cgroup?.ranOut() === true && exitCode !== 0)
    return { reason: 'killed', exitCode: null, durationMs, detail: memoryDetail(bounds) };
  if (exitCode !== null && bridge?.isReady() === false)
    return { ...failed(`What leads out of the sandbox could not be opened: ${words.stderr().trim()}`), durationMs };
  if (exitCode !== null) return { reason: 'exited', exitCode, durationMs, detail: exitDetail(exitCode, bounds) };
  if (end.signal !== null) {
    const detail = `The sandbox was ended from outside by ${end.signal}.`;
    return { reason: 'killed', exitCode: null, durationMs, detail };
  }
  const { explainFailure } = await import('./bubblewrap-failure.ts');
  return { ...failed(explainFailure(words.stderr())), durationMs };
}

function failed(detail: string): CommandEnd {
  return { reason: 'failed_to_start', exitCode: null, durationMs: 0, detail };
}

const unstarted = (end: CommandEnd): Tried => ({ end, entered: false });

function adopts(user: CommandUser): boolean {
  return user.kind === 'setpriv' || (user.kind === 'staged' && user.adopts);
}

function refusalOf({ env, script }: SandboxedCommand): string | null {
  const bad = Object.entries(env).find(([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'));
  if (bad !== undefined) return `The environment variable ${JSON.stringify(bad[0])} cannot be set.`;
  return script.includes('\0') ? 'The command holds a NUL byte.' : null;
}
