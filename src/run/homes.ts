import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The private HOME folders of a run: setup writes the first one, the agent and each check get a copy of it as setup left it,
 * so that nothing the agent leaves in its own reaches a check.
 */
export interface Homes {
  readonly setup: string;
  /** A fresh copy; call it after setup has ended. */
  copy(name: string): Promise<string>;
}

export async function createHomes(scratch: string): Promise<Homes> {
  const setup = join(scratch, 'home');
  await mkdir(setup, { recursive: true, mode: 0o755 });
  let copies = 0;
  return {
    setup,
    async copy(name) {
      const dir = join(scratch, `home-${copies++}-${name}`);
      const used = (await readdir(setup)).length > 0;
      if (used) await cp(setup, dir, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, mode: 2 });
      else await mkdir(dir, { mode: 0o755 });
      return dir;
    },
  };
}
