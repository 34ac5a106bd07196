import { mkdir, readdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { copyFolder } from '../workspace/index.ts';

/**
 * The private HOME folders of a run: setup writes the first one, the agent and each check get a copy of it as setup left it,
 * so that nothing the agent leaves in its own reaches a check.
 */
export interface Homes {
  readonly setup: string;
  /** A fresh copy; call it after setup has ended. */
  copy(name: string): Promise<string>;
}

/** The absolute path of an entry of `sandbox.readable`, which may begin with `~`. */
export function readablePath(entry: string): string {
  return entry === '~' || entry.startsWith('~/') ? join(homedir(), entry.slice(1)) : entry;
}

/**
 * `readable` is the policy's list: what it names as `~/…` is found at the same place in the private HOME, where programs look for
 * their toolchains and caches.
 */
export async function createHomes(scratch: string, readable: readonly string[]): Promise<Homes> {
  const setup = join(scratch, 'home');
  await mkdir(setup, { recursive: true, mode: 0o755 });
  const linked: string[] = [];
  for (const entry of readable.toSorted((a, b) => a.length - b.length)) {
    const below = relative(homedir(), readablePath(entry));
    const isTaken = linked.some((other) => below === other || below.startsWith(other + sep));
    if (!entry.startsWith('~/') || below === '' || below.startsWith('..') || isTaken) continue;
    await mkdir(dirname(join(setup, below)), { recursive: true, mode: 0o755 });
    await symlink(join(homedir(), below), join(setup, below));
    linked.push(below);
  }
  let copies = 0;
  return {
    setup,
    async copy(name) {
      const dir = join(scratch, `home-${copies++}-${name}`);
      const used = (await readdir(setup)).length > 0;
      if (used) await copyFolder(setup, dir);
      else await mkdir(dir, { mode: 0o755 });
      return dir;
    },
  };
}
