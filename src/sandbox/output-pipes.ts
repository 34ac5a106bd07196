import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, openSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** Both ends of a pipe, owned by whoever took them. */
export interface OutputPipe {
  readFd: number;
  writeFd: number;
}

export interface OutputPipes {
  take(): Promise<OutputPipe>;
}

/** `mkfifo` costs a process: one makes enough for most runs. */
const BATCH = 64;
const LOW = 4;

/**
 * Pipes for a command's stdout and stderr. Node gives children socket pairs, which `> /dev/stderr` and `tee /dev/stdout` cannot
 * open, and cannot share one between two descriptors; a named pipe, unlinked once it is open, does both. It is never a file: a
 * command could read and forge what a file holds.
 */
export function createOutputPipes(dir: string): OutputPipes {
  const ready: string[] = [];
  let filling: Promise<void> | null = null;
  const fill = (): Promise<void> => {
    filling ??= makePipes(dir)
      .then((made) => void ready.push(...made))
      .finally(() => {
        filling = null;
      });
    return filling;
  };
  return {
    async take() {
      while (ready.length === 0) await fill();
      const name = ready.pop();
      if (name === undefined) throw new Error('no pipe after filling');
      // A failure ahead of need is not lost: the next take finds the list empty and meets it again.
      if (ready.length < LOW) fill().catch(() => undefined);
      const readFd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
      const writeFd = openSync(name, constants.O_WRONLY);
      unlinkSync(name);
      return { readFd, writeFd };
    },
  };
}

async function makePipes(dir: string): Promise<string[]> {
  const batch = randomUUID();
  const names = Array.from({ length: BATCH }, (_, index) => path.join(dir, `pipe-${batch}-${index}`));
  // Writable for all: the command may run as another user, and reopens it as /dev/stderr. The folder keeps others out.
  await promisify(execFile)('mkfifo', ['-m', '0622', '--', ...names], { env: { PATH: '/usr/bin:/bin' } });
  return names;
}
