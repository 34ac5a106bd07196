import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { nameSome } from '../events/index.ts';
import { type Bounds, exitDetail } from './bounds.ts';
import { watchBounds } from './bounds-watch.ts';
import { innerCommand } from './bubblewrap-args.ts';
import { createWords } from './bubblewrap-words.ts';
import { type Launch, runProcess } from './command-process.ts';
import { type Area, accessTo, needsCopy, planAreas, writableIn } from './copy-plan.ts';
import { createFolderCopy, type FolderCopy } from './folder-copy.ts';
import { isWithin } from './is-within.ts';
import { landlockArgs, landlockEnvironment } from './landlock-launcher.ts';
import { landlockRules, landlockRuleset } from './landlock-rules.ts';
import { planMounts } from './mount-plan.ts';
import type { OutputPipes } from './output-pipes.ts';
import { tasksOf } from './process-tree.ts';
import type { CommandEnd, Mount, Sandbox, SandboxedCommand, SandboxStatus } from './sandbox.ts';
import type { Scratch } from './scratch.ts';
import { endSurvivors, killSurvivors, SURVIVOR_MARK } from './survivors.ts';
import type { SystemView } from './system-view.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

/** What one run's commands have in common. */
export interface LandlockSetup {
  perl: string;
  abi: number;
  /** Whom commands run as where belay is root; null: belay's own user. */
  become: { uid: number; gid: number } | null;
  view: SystemView;
  bounds: Bounds;
  /** The workspace may not be written, whatever a command's mounts say. */
  readOnly: boolean;
  scratch: Scratch;
  filterFile: string;
  pipes: OutputPipes;
}

const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const STOP_AGAIN_MS = 100;
const NAMED = 10;

/**
 * No namespaces, for machines that refuse them: Landlock says which files a command may open, a system call filter keeps it from every
 * socket, and what it may not see or change is left out of a copy of the folder that it works in. Commands run one after another,
 * because their copies are made alike with the folder around each of them.
 */
export function createLandlockSandbox(setup: LandlockSetup, status: SandboxStatus): Sandbox {
  const closing = new AbortController();
  const copies = new Map<string, FolderCopy>();
  const watchdog = createWatchdog();
  let last: Promise<unknown> = Promise.resolve();
  return {
    status,
    run(command, signal) {
      const either = AbortSignal.any([signal, closing.signal]);
      const end = last.then(() => runCommand(setup, { command, copies, signal: either, watchdog }));
      last = end;
      return end;
    },
    rest: () => Promise.resolve(),
    async close() {
      closing.abort();
      await last;
      await watchdog.close();
      setup.scratch.remove();
    },
  };
}

interface Run {
  command: SandboxedCommand;
  copies: Map<string, FolderCopy>;
  signal: AbortSignal;
  watchdog: Watchdog;
}

async function runCommand(setup: LandlockSetup, { copies, ...run }: Run): Promise<CommandEnd> {
  const { command, signal } = run;
  const mounts = command.mounts.map(withoutGit).map((mount) => (setup.readOnly ? withoutWriting(mount) : mount));
  const refusal = refusalOf({ ...command, mounts });
  if (refusal !== null) return failed(refusal);
  try {
    const plan = planMounts(mounts);
    if (plan.kind === 'refused') return failed(plan.reason);
    if (signal.aborted) return { reason: 'cancelled', exitCode: null, durationMs: 0, detail: 'The run was cancelled.' };
    const home: Mount = { from: realpathSync(command.home), to: command.home, access: 'write' };
    const places = [...planAreas(mounts), ...planAreas([home])].map((area) => openPlace(area, setup, copies));
    for (const { copy } of places) copy?.refresh();
    const end = await runIn(places, home.from, { setup, ...run });
    const refused = places.flatMap(({ area, copy }) =>
      (copy?.takeBack() ?? []).map((below) => path.join(area.root, below)),
    );
    if (refused.length > 0) await command.onOutput(Buffer.from(refusedNote(refused)));
    return end;
  } catch (error) {
    // Half made alike: the next command begins with a fresh copy.
    copies.clear();
    // The port never rejects.
    return failed(`The sandbox could not be used: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** A folder of the host as a command finds it. */
interface Place {
  area: Area;
  copy: FolderCopy | null;
  locate(hostPath: string): string;
}

function openPlace(area: Area, setup: LandlockSetup, copies: Map<string, FolderCopy>): Place {
  const isOwn = setup.become === null || !area.mounts.some(({ access }) => access === 'write');
  if (!needsCopy(area) && isOwn) return { area, copy: null, locate: (hostPath) => hostPath };
  const key = JSON.stringify(area);
  let copy = copies.get(key);
  if (copy === undefined) {
    const to = path.join(setup.scratch.dir, `copy-${randomUUID()}`, path.basename(area.root));
    mkdirSync(to, { recursive: true });
    if (setup.become !== null) chownSync(to, setup.become.uid, setup.become.gid);
    copy = createFolderCopy(area, to, setup.become);
    copies.set(key, copy);
  }
  return { area, copy, locate: (hostPath) => copy.locate(hostPath) };
}

async function runIn(
  places: readonly Place[],
  home: string,
  { setup, command, signal, watchdog }: Omit<Run, 'copies'> & { setup: LandlockSetup },
): Promise<CommandEnd> {
  const { scratch, abi, bounds, become } = setup;
  const locate = (hostPath: string): string =>
    places.find(({ area }) => isWithin(area.root, hostPath))?.locate(hostPath) ?? hostPath;
  const workdir = locate(command.workdir);
  if (!existsSync(workdir)) return failed(`${command.workdir} does not exist.`);
  const own = randomUUID();
  const id = `${watchdog.mark}.${own}`;
  const temporary = path.join(scratch.dir, `tmp-${own}`);
  mkdirSync(temporary);
  if (become !== null) chownSync(temporary, become.uid, become.gid);
  const moved = places.filter(({ copy }) => copy !== null).map(({ area }) => area.root);
  const script = moved.reduce((text, root) => pointTo(text, root, locate(root)), command.script);
  const isLong = Buffer.byteLength(script) > MAX_ARGUMENT_BYTES;
  const scriptFile = isLong ? scratch.file(`script-${own}`, script) : null;
  const written = [...places.flatMap(({ area }) => writableIn(area).map(locate)), temporary];
  const rules = landlockRules(
    {
      view: setup.view,
      read: [
        ...places.filter(({ area }) => accessTo(area, '') !== 'hidden').map(({ area }) => locate(area.root)),
        ...(scriptFile === null ? [] : [scriptFile]),
      ],
      write: written,
    },
    abi,
  );
  // The kernel counts all that the user runs: another run's commands are of the same one.
  const others = tasksOf(become?.uid ?? process.geteuid?.() ?? 0);
  const [file = '', ...args] = landlockArgs({
    perl: setup.perl,
    become,
    ruleset: landlockRuleset(abi),
    rules,
    filterFile: setup.filterFile,
    command: innerCommand(scriptFile === null ? ['-c', script] : [scriptFile], {
      bounds: { ...bounds, processes: bounds.processes + others },
      mark: watchdog.mark,
    }),
  });
  const env = landlockEnvironment({
    PATH: setup.view.path,
    ...command.env,
    HOME: locate(home),
    TMPDIR: temporary,
    [SURVIVOR_MARK]: id,
  });
  const words = createWords();
  let printedBytes = 0;
  const startedAtMs = performance.now();
  const launch: Launch = {
    start(outputFd) {
      const child = spawn(file, args, {
        env,
        cwd: workdir,
        detached: true,
        stdio: ['ignore', outputFd, 'pipe', 'ignore', 'pipe'],
      });
      words.listen(child);
      return child;
    },
    kill(child) {
      // A signal to one that was not started would go to belay's own process group.
      if (child.pid === undefined) return;
      // Again, because a signal between two steps of a program goes by unseen.
      child.kill('SIGTERM');
      const timer = setInterval(() => child.kill('SIGTERM'), STOP_AGAIN_MS).unref();
      child.once('exit', () => clearInterval(timer));
    },
    async settle(child) {
      await words.ended;
      if (child.signalCode !== null || words.exitCode() === null)
        await endSurvivors({ group: child.pid ?? 0, id, startedAtMs });
    },
    watch(child, kill) {
      if (child.pid === undefined) return () => undefined;
      const printed = (): number => printedBytes;
      return watchBounds(child.pid, { bounds, folders: written, printed, boundsMemory: false }, kill);
    },
  };
  watchdog.start();
  const end = await runProcess({
    launch,
    pipes: setup.pipes,
    timeoutMs: command.timeoutMs,
    onOutput: (chunk) => {
      printedBytes += chunk.length;
      return command.onOutput(chunk);
    },
    signal,
  });
  rmSync(temporary, { recursive: true, force: true });
  const { durationMs, cause } = end;
  if (cause === 'not_started') return failed(`The sandbox could not be started: ${end.detail ?? 'unknown'}.`);
  if (cause !== 'exited') return { reason: cause, exitCode: null, durationMs, detail: end.detail };
  const exitCode = words.exitCode();
  if (exitCode !== null) return { reason: 'exited', exitCode, durationMs, detail: exitDetail(exitCode, bounds) };
  if (end.signal !== null) {
    killSurvivors({ group: 0, id, startedAtMs });
    const detail = `The sandbox was ended from outside by ${end.signal}.`;
    return { reason: 'killed', exitCode: null, durationMs, detail };
  }
  return { ...failed(`The sandbox could not be set up (${lastLine(words.stderr())}).`), durationMs };
}

/** Commands name the workspace by the path that they were told: it means the copy. */
function pointTo(script: string, from: string, to: string): string {
  const escaped = from.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return script.replace(new RegExp(`(?<![\\w./-])${escaped}(?![\\w.-])`, 'g'), () => to);
}

function refusedNote(paths: readonly string[]): string {
  const quoted = paths.map((at) => JSON.stringify(at));
  return `\n[belay: not kept, because it is protected or no file: ${nameSome(quoted, NAMED)}]\n`;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
}

/** A command sees nothing of git: not its objects, and no configuration, which may hold a token. */
function withoutGit(mount: Mount): Mount {
  return mount.to.split('/').includes('.git') ? { from: mount.to, to: mount.to, access: 'hidden' } : mount;
}

function withoutWriting(mount: Mount): Mount {
  return mount.access === 'write' ? { ...mount, access: 'read' } : mount;
}

function refusalOf({ network, env, script, mounts }: SandboxedCommand): string | null {
  if (network.mode === 'allow') return 'The landlock sandbox has no network by a list of hosts: use `network: none`.';
  const moved = mounts.find(({ from, to, access }) => access !== 'hidden' && from !== to && realpathSync(to) !== from);
  if (moved !== undefined) return `The landlock sandbox cannot show ${moved.from} at ${moved.to}.`;
  const bad = Object.entries(env).find(([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'));
  if (bad !== undefined) return `The environment variable ${JSON.stringify(bad[0])} cannot be set.`;
  return script.includes('\0') ? 'The command holds a NUL byte.' : null;
}

function failed(detail: string): CommandEnd {
  return { reason: 'failed_to_start', exitCode: null, durationMs: 0, detail };
}
