import type { ChildProcess } from 'node:child_process';
import { STATUS_FD } from './bubblewrap-args.ts';

/** Bound of what is kept of it. */
const MAX_BYTES = 8 * 1024;

/** What bubblewrap says beside the command's output: its status documents, one a line, and its complaints. */
export interface BubblewrapWords {
  listen(child: ChildProcess): void;
  /** Process id, outside, of the first process of the command's pid namespace. */
  firstPid(): number | null;
  exitCode(): number | null;
  stderr(): string;
  ended: Promise<void>;
}

/** `onStart`: called once the fence of a child that is listened to is there; the command may have ended by then. */
export function createWords(onStart: (child: ChildProcess) => void = () => undefined): BubblewrapWords {
  let status = '';
  let stderr = '';
  let markEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve;
  });
  const number = (name: string): number | null => {
    const match = new RegExp(`"${name}"\\s*:\\s*(\\d+)`).exec(status);
    return match === null ? null : Number(match[1]);
  };
  return {
    listen(child) {
      child.once('error', markEnded);
      // It was not started, and has no pipes.
      if (child.pid === undefined) return;
      child.stderr?.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString('utf8')).slice(-MAX_BYTES);
      });
      const pipe = child.stdio[STATUS_FD];
      pipe?.once('data', () => onStart(child));
      pipe?.on('data', (chunk: Buffer) => {
        status = (status + chunk.toString('latin1')).slice(0, MAX_BYTES);
      });
      pipe?.once('close', markEnded);
    },
    firstPid: () => number('child-pid'),
    exitCode: () => number('exit-code'),
    stderr: () => stderr,
    ended,
  };
}
