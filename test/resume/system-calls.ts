import { spawnSync } from 'node:child_process';

export const hasStrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

export interface SystemCall {
  name: string;
  text: string;
  /** Calls of several threads overlap: where this one began and ended in the trace. */
  from: number;
  to: number;
}

/** What `strace -f` wrote, one call an entry, in the order of their ends. */
export function parseTrace(text: string): SystemCall[] {
  const open = new Map<string, { text: string; from: number }>();
  return text.split('\n').flatMap((line, at): SystemCall[] => {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      open.set(pid, { text: rest.slice(0, -16), from: at });
      return [];
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const before = resumed === null ? { text: '', from: at } : (open.get(pid) ?? { text: '', from: at });
    const whole = before.text + (resumed?.[1] ?? rest);
    const name = /^(\w+)\(/.exec(whole)?.[1];
    return name === undefined ? [] : [{ name, text: whole, from: before.from, to: at }];
  });
}
