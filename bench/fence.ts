import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPolicy } from '../src/policy/index.ts';
import { probeSandbox, type SandboxedCommand } from '../src/sandbox/index.ts';
import { RAW_BWRAP } from './commands.ts';
import { inFolder } from './in-folder.ts';
import { median, type Row } from './row.ts';

/** What a command costs in the fence, one by one and with the next one's fence set up meanwhile, beside bubblewrap alone. */
export function benchFence(rounds: number): Promise<Row[]> {
  return inFolder((root) => measureFence(root, rounds));
}

async function measureFence(root: string, rounds: number): Promise<Row[]> {
  const [workdir, home] = [join(root, 'work'), join(root, 'home')];
  for (const folder of [workdir, home]) mkdirSync(folder);
  const { signal } = new AbortController();
  const mounts = [{ from: workdir, to: workdir, access: 'write' as const }];
  const { policy: whole } = await loadPolicy({ kind: 'built-in' });
  const policy = { ...whole.sandbox, require: 'bubblewrap' as const };
  const probed = await probeSandbox({ policy, mounts, workdir, home, env: process.env, reachesOut: false, signal });
  if (probed.kind === 'unavailable') throw new Error(probed.reason);
  const { sandbox } = probed;
  const command: SandboxedCommand = {
    ...{ script: 'true', workdir, env: {}, mounts, home, network: { mode: 'none' }, timeoutMs: 60_000 },
    onOutput: () => undefined,
  };
  const times: Record<'raw' | 'fence' | 'ahead', number[]> = { raw: [], fence: [], ahead: [] };
  const processor: Record<keyof typeof times, number> = { raw: 0, fence: 0, ahead: 0 };
  const timed = async (name: keyof typeof times, act: () => Promise<unknown>) => {
    const [start, used] = [performance.now(), processorMs()];
    await act();
    times[name].push(performance.now() - start);
    processor[name] += processorMs() - used;
  };
  const [program = '', ...args] = RAW_BWRAP;
  for (let round = 0; round < rounds; round++) {
    await timed('raw', async () => once(spawn(program, args, { stdio: 'ignore' }), 'exit'));
    await timed('fence', () => sandbox.run(command, signal));
  }
  for (let round = 0; round < rounds; round++)
    await timed('ahead', () => sandbox.run({ ...command, moreFollow: true }, signal));
  await sandbox.close();
  const against = { name: 'raw `bwrap true`', value: median(times.raw) };
  return [
    { name: 'a command in the fence', value: median(times.fence), unit: 'ms', against },
    { name: 'one of many like it, one after the other', value: median(times.ahead), unit: 'ms', against },
    {
      name: 'processor time of a command in the fence, with that of belay for it',
      ...{ value: processor.fence / rounds, unit: 'ms' },
      against: { name: 'that of raw `bwrap true`', value: processor.raw / rounds },
    },
  ];
}

/** Of this process and of all its children that have ended, in the kernel's ticks of 10 ms: a figure for many commands. */
function processorMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}
