import { type ChildProcess, fork } from 'node:child_process';
import { Readable } from 'node:stream';
import type { Interruption } from '../events/index.ts';
import { FromJob, type JobOrder, type ToJob } from './job-order.ts';

/** A run in a process of its own: one that is out of memory, hangs or is killed takes nothing else with it. */
export interface RunningJob {
  /** Its event stream. */
  readonly stdout: Readable;
  /** Resolves, never rejects: how the process ended, with the tail of its stderr. */
  readonly ended: Promise<JobEnd>;
  interrupt(why: Interruption): void;
  kill(): void;
}

export interface JobEnd {
  /** `exit code 1`, `SIGKILL`. */
  how: string;
  stderr: string;
}

export type StartJob = (order: JobOrder, onSetupKept: () => void) => RunningJob;

const STDERR_BYTES = 2_000;

/** `program`: the script that this process was started by; it serves a job when it is called with `--job`. */
export function createJobStarter(program: string, env: NodeJS.ProcessEnv): StartJob {
  return (order, onSetupKept) => {
    const child = fork(program, ['--job'], {
      env,
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const { stdout, stderr } = child;
    if (child.pid === undefined) return notStarted(child);
    if (stdout === null || stderr === null) throw new Error('bug: the run has no pipes');
    let tail = '';
    stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-STDERR_BYTES);
    });
    const ended = new Promise<JobEnd>((resolve) => {
      child.on('error', (error) => resolve({ how: `it cannot be started (${error.message})`, stderr: tail }));
      child.on('close', (code, signal) => resolve({ how: signal ?? `exit code ${code}`, stderr: tail }));
    });
    child.on('message', (message) => {
      if (FromJob.safeParse(message).success) onSetupKept();
    });
    // A process that is gone takes no message: `ended` tells.
    const send = (message: ToJob) => {
      if (child.connected) child.send(message, () => undefined);
    };
    send({ kind: 'order', order });
    return {
      stdout,
      ended,
      interrupt: (why) => send({ kind: 'interrupt', why }),
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

/** The machine has no process or descriptor left for it. Its pipes are not there, and a signal would go to belay's own process group. */
function notStarted(child: ChildProcess): RunningJob {
  return {
    stdout: Readable.from([]),
    ended: new Promise((resolve) => {
      child.on('error', (error) => resolve({ how: `it cannot be started (${error.message})`, stderr: '' }));
    }),
    interrupt: () => undefined,
    kill: () => undefined,
  };
}
