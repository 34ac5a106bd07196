import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { CLOSE_DESCRIPTORS } from './bounds.ts';
import { SURVIVOR_MARK } from './survivors.ts';

/**
 * Ends what a belay that was killed (SIGKILL, no memory left) leaves behind. `--die-with-parent` alone has gaps: a belay that dies before
 * bubblewrap, or its first process inside, has asked for that signal leaves a command that runs on, or a bubblewrap that waits for ever.
 */
export interface Watchdog {
  /** To stand in the arguments or the environment of all that is to end with belay. */
  readonly mark: string;
  /** Before what carries the mark is started. */
  start(): void;
  /** In a while, when belay waits for a model: starting a process holds it up for 5 ms, and the first request with it. */
  startLater(): void;
  /** When nothing carries the mark any more. */
  close(): Promise<void>;
}

/**
 * The pipe ends where belay does. A process that is being made shows only once it is there: so all are looked at until none was found
 * twice. The mark comes through the pipe, so that this process does not find itself, and only what belay itself started with it counts: a
 * command may know it, and have others name it.
 */
const SCRIPT = `
${CLOSE_DESCRIPTORS}
read -r mark || exit
read -r
quiet=0
exec 9<> <(:)
for ((look = 0; look < 250 && quiet < 2; look++)); do
  quiet=$((quiet + 1))
  for file in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do
    words=()
    mapfile -d '' -t words < "$file"
    [[ "\${words[*]}" == *"$mark"* ]] || continue
    for word in "\${words[@]}"; do
      [[ $word == ": $mark; "* || $word == "${SURVIVOR_MARK}=$mark."* ]] || continue
      pid=\${file#/proc/}
      kill -9 "\${pid%/*}" && quiet=0
      break
    done
  done
  read -rt 0.02 -u 9
done
`;

const LATER_MS = 1_000;

export function createWatchdog(): Watchdog {
  const mark = `belay-${randomUUID()}`;
  let child: ChildProcess | null = null;
  let timer: NodeJS.Timeout | undefined;
  const watchdog: Watchdog = {
    mark,
    startLater() {
      timer ??= setTimeout(watchdog.start, LATER_MS).unref();
    },
    start() {
      clearTimeout(timer);
      if (child !== null || process.platform !== 'linux' || !existsSync('/bin/bash')) return;
      child = spawn('/bin/bash', ['-p', '-c', SCRIPT], {
        // Of its own session: what ends belay's process group leaves it.
        ...{ cwd: '/', env: { PATH: '/usr/bin:/bin' }, detached: true },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      // Where no process can be started, the signal of the parent's death is what there is.
      child.on('error', () => undefined);
      child.once('exit', () => {
        child = null;
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.write(`${mark}\n`);
      child.unref();
      if (child.stdin instanceof Socket) child.stdin.unref();
    },
    async close() {
      clearTimeout(timer);
      if (child?.pid === undefined) return;
      child.ref();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
  return watchdog;
}
