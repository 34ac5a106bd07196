import type { Interruption } from '../events/index.ts';

/**
 * A closed terminal, a limit on processor time and what schedulers send before it is too late end belay in the same orderly way as
 * SIGTERM. Without a listener, SIGUSR1 would open Node's debugger to whoever can reach loopback.
 */
const MEANINGS = [
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGHUP', 'SIGTERM'],
  ['SIGQUIT', 'SIGTERM'],
  ['SIGXCPU', 'SIGTERM'],
  ['SIGALRM', 'SIGTERM'],
  ['SIGUSR1', 'SIGTERM'],
  ['SIGUSR2', 'SIGTERM'],
] as const;

/** Signals that ask this process to end, held back from its first line on, so that what has an end to tell can tell it. */
export interface HeldSignals {
  /** What the first of them asks for; the later ones ask for nothing more. Null while there is none. */
  first(): Interruption | null;
  /** From now on, and to the end of the process, this is told of the first signal: at once where it came before. */
  to(listener: (why: Interruption) => void): void;
  /** From now on a signal ends the process at once, also one that came before. */
  release(): Promise<void>;
}

export function holdSignals(process: Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'pid'>): HeldSignals {
  let first: Interruption | null = null;
  let isHeld = false;
  let tell: (why: Interruption) => void = () => undefined;
  const listeners = MEANINGS.map(([signal, why]) => {
    const listener = () => {
      if (first !== null) return;
      first = why;
      tell(why);
    };
    return { signal, listener };
  });
  const letGo = () => {
    isHeld = false;
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
  const hold = () => {
    if (isHeld) return;
    isHeld = true;
    for (const { signal, listener } of listeners) process.on(signal, listener);
  };
  hold();
  return {
    first: () => first,
    to(listener) {
      hold();
      tell = listener;
      if (first !== null) listener(first);
    },
    async release() {
      // One that came while the program was read is told by the event loop, and would be lost with its listener.
      await new Promise((resolve) => setImmediate(resolve));
      letGo();
      if (first !== null) process.kill(process.pid, first);
    },
  };
}
