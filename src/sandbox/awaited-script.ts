import type { ChildProcess } from 'node:child_process';

/** Shell words that wait for the script; without its NUL, whoever was to send it is gone. The name is one that no command has in its environment. */
export const AWAIT_SCRIPT = "IFS= read -r -d '' BELAY_SCRIPT || exit 111";

/** Hands a script to the shell that waits for it; nothing where none does. */
export function sendScript({ stdin }: ChildProcess, script: string): void {
  stdin?.end(`${script}\0`);
}

/** A shell may end before it has read its script; how it ended tells. */
export function overlookEarlyEnd({ stdin }: ChildProcess): void {
  stdin?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
  });
}
