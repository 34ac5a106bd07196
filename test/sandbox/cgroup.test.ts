import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Cgroup, createCgroup, findCgroupHome } from '../../src/sandbox/cgroup.ts';
import { IS_LINUX, MIB } from './fixture.ts';

const home = IS_LINUX ? findCgroupHome() : null;
const note = home === null ? '' : ` (version ${home.version} here)`;

/** Runs a script as a member of the group, and what it starts with it. */
const runIn = ({ procsFiles }: Cgroup, script: string) =>
  spawnSync('sh', ['-c', `${procsFiles.map((file) => `echo $$ > '${file}'`).join('; ')}\n${script}`], {
    encoding: 'utf8',
  });

describe(`a control group${note}`, () => {
  it.skipIf(home?.memory == null)('ends what uses more memory than it may, says so, and is gone after', async () => {
    if (home === null) throw new Error('skipped');
    const group = createCgroup(home, { memoryBytes: 32 * MIB, processes: 10 });
    expect(group.ranOut()).toBe(false);
    const end = runIn(group, `exec perl -e '$x = "x" x (128 << 20); print "breached"'`);
    expect({ signal: end.signal, output: end.stdout, ranOut: group.ranOut() }).toEqual({
      signal: 'SIGKILL',
      output: '',
      ranOut: true,
    });
    await group.remove();
    expect(group.procsFiles.filter((file) => existsSync(path.dirname(file)))).toEqual([]);
  });

  it.skipIf(home?.pids == null)('holds what is in it to its number of processes, also as root', async () => {
    if (home === null) throw new Error('skipped');
    const group = createCgroup(home, { memoryBytes: 256 * MIB, processes: 8 });
    const end = runIn(
      group,
      `exec perl -e '$n = 0; for (1 .. 40) { defined(my $pid = fork) or next; if (!$pid) { sleep 60; exit } $n++; push @all, $pid } kill 9, @all; wait for @all; print $n'`,
    );
    expect(Number(end.stdout)).toBeLessThan(10);
    expect(Number(end.stdout)).toBeGreaterThan(0);
    await group.remove();
  });
});
