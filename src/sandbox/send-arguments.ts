import type { ChildProcess } from 'node:child_process';
import { Writable } from 'node:stream';
import { hasCode } from '../errors.ts';
import { ARGS_FD } from './bubblewrap-args.ts';

/**
 * Gives bubblewrap its arguments by a descriptor. They hold the environment of the command, and a command line is read by every user of
 * the machine, also by what runs in the fence.
 */
export function sendArguments(child: ChildProcess, args: readonly string[]): void {
  const pipes: readonly unknown[] = child.stdio;
  const pipe = pipes[ARGS_FD];
  // None where it could not be started.
  if (!(pipe instanceof Writable)) return;
  // How it ended before it had read them is told elsewhere.
  pipe.on('error', (error) => {
    if (!hasCode(error, 'EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED')) throw error;
  });
  pipe.end(args.map((argument) => `${argument}\0`).join(''));
}
