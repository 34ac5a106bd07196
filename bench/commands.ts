import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder } from './in-folder.ts';
import { CLI } from './measure-run.ts';
import { median, type Row } from './row.ts';

/** Median wall time of commands that are started one after the other, in turns, so that all meet the same machine. */
function sideBySide(
  rounds: number,
  commands: Readonly<Record<string, readonly string[]>>,
  cwd: string,
): Record<string, number> {
  const times: Record<string, number[]> = {};
  const env = { PATH: process.env['PATH'], HOME: cwd };
  for (let round = 0; round < rounds; round++) {
    for (const [name, [program = '', ...args]] of Object.entries(commands)) {
      const start = performance.now();
      const end = spawnSync(program, args, { cwd, env, stdio: 'ignore' });
      if (end.status !== 0) throw new Error(`${name} ended with ${end.status}`);
      times[name] = [...(times[name] ?? []), performance.now() - start];
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

export const RAW_BWRAP = [
  'bwrap',
  ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--die-with-parent', '--ro-bind', '/', '/'],
  ...['--proc', '/proc', '--dev', '/dev', 'true'],
];

/** Start-up of commands that need no run, and the measures that other figures stand beside. */
export function benchCommands(
  rounds: number,
): Promise<{ rows: Row[]; nodeMs: number; bwrapMs: number; gitMs: number }> {
  return inFolder((root) => {
    mkdirSync(join(root, 'home'));
    spawnSync('git', ['init', '-q'], { cwd: root });
    writeFileSync(join(root, 'a.txt'), 'a\n');
    const node = process.execPath;
    const times = sideBySide(
      rounds,
      {
        node: [node, '-e', '0'],
        version: [node, CLI, '--version'],
        help: [node, CLI, '--help'],
        bwrap: RAW_BWRAP,
        git: ['git', 'status', '--porcelain'],
      },
      root,
    );
    const { node: nodeMs = 0, bwrap: bwrapMs = 0, git: gitMs = 0 } = times;
    const against = { name: '`node -e 0`', value: nodeMs };
    const rows: Row[] = [
      { name: '`belay --version`', value: times['version'] ?? 0, unit: 'ms', against },
      { name: '`belay --help`', value: times['help'] ?? 0, unit: 'ms', against },
    ];
    return { rows, nodeMs, bwrapMs, gitMs };
  });
}
