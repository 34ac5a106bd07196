import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { limitCoresOf } from '../../src/sandbox/limit-dumps.ts';
import { runBatch } from '../batch/batch-run.ts';
import { HAS_LANDLOCK, IS_LINUX, IS_ROOT } from '../sandbox/fixture.ts';
import { type Bench, CLI, commitAll, createBench, runCli, writeCassette } from '../scenario.ts';
import { USERS } from '../users.ts';

const SHOW = 'grep core /proc/self/limits; cat /proc/self/coredump_filter';
const NONE = { limit: '1 1 bytes', filter: '00000000' };
const ANSWERS = [
  { tool_calls: [{ name: 'shell', input: { command: SHOW } }] },
  { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] },
];

/** Limit of core dumps, soft and hard, and which memory would be in one. */
function coresOf(pid: number | string): { limit: string; filter: string } {
  const line = /^Max core file size\s+(.*\S)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1] ?? '';
  return {
    limit: line.split(/\s+/).join(' '),
    filter: readFileSync(`/proc/${pid}/coredump_filter`, 'latin1').trim(),
  };
}

const shown = (text: string) => {
  const [limit = '', filter = ''] = text.trim().split('\n');
  return { limit: limit.replace('Max core file size', '').trim().split(/\s+/).join(' '), filter };
};

/** The limit of whoever runs the tests may be lower already; then it takes a right to raise it. */
const RAISE = 'ulimit -c unlimited';
const MAY_RAISE = IS_LINUX && spawnSync('bash', ['-c', RAISE]).status === 0;
const writesCoresHere = MAY_RAISE && /^core(\.|\s|$)/.test(readFileSync('/proc/sys/kernel/core_pattern', 'latin1'));

const TIERS = HAS_LANDLOCK ? ['bubblewrap', 'landlock'] : ['bubblewrap'];

let bench: Bench;
afterEach(() => bench.remove());

describe.each(USERS)('core dumps, with belay run by $who,', ({ uid, works }) => {
  beforeEach(() => {
    bench = createBench({ 'a.txt': 'a\n' }, uid);
  });

  it.skipIf(!works || !IS_LINUX).each(TIERS)(
    'are written neither of belay nor of its commands under %s',
    async (tier) => {
      bench.write('belay.yml', JSON.stringify({ version: 1, sandbox: { require: tier }, verify: { checks: [] } }));
      commitAll(bench);
      const cassette = writeCassette(bench, ANSWERS);
      let own = {};
      const end = await runCli(['run', 'look', '--replay', cassette, '--format', 'jsonl'], bench, {
        onOutput(stdout, child) {
          if (stdout.includes('"type":"item.completed"') && !stdout.includes('"type":"run.completed"'))
            own = coresOf(child.pid ?? 0);
        },
      });
      const outputs = end.events.flatMap((event) =>
        event.type === 'item.completed' && event.item.type === 'command_execution'
          ? [event.item.aggregated_output]
          : [],
      );
      expect({ code: end.code, own, command: outputs.map(shown) }).toEqual({ code: 0, own: NONE, command: [NONE] });
    },
  );
});

describe.skipIf(!IS_LINUX)('core dumps of belay', () => {
  beforeEach(() => {
    bench = createBench({ 'a.txt': 'a\n' });
  });

  it('are written of no process of a batch', async () => {
    bench.write('belay.yml', JSON.stringify({ version: 1, verify: { checks: [] } }));
    commitAll(bench);
    const cassette = writeCassette(bench, ANSWERS);
    bench.write('../io/jobs.jsonl', `${JSON.stringify({ id: 'one', goal: 'look' })}\n`);
    const all: object[] = [];
    const end = await runBatch([join(bench.io, 'jobs.jsonl'), '--replay', cassette], bench, {
      onLine(event, pid) {
        if (event.type !== 'item.completed') return;
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
        all.push(...[pid, ...children].map(coresOf));
      },
    });
    expect(end.code).toBe(0);
    expect(all.length).toBeGreaterThanOrEqual(2);
    expect(all).toEqual(all.map(() => NONE));
  });

  it('are bounded where no fence is asked for', async () => {
    bench.write('belay.yml', JSON.stringify({ version: 1, sandbox: { mode: 'off' }, verify: { checks: [] } }));
    commitAll(bench);
    let own = {};
    await runCli(['run', 'look', '--replay', writeCassette(bench, ANSWERS), '--format', 'jsonl'], bench, {
      onOutput(stdout, child) {
        if (stdout.includes('"type":"item.completed"') && !stdout.includes('"type":"run.completed"'))
          own = coresOf(child.pid ?? 0);
      },
    });
    expect(own).toEqual(NONE);
  });

  const HIDDEN: [string, object][] = [
    ['perl', { works: true }],
    ['perl prlimit', { works: false, required: false, fix: expect.stringContaining('perl') }],
  ];
  it.skipIf(!IS_ROOT || !MAY_RAISE).each(HIDDEN)(
    'are as doctor says on a machine without %s',
    async (hidden, cores) => {
      const hide = `${RAISE}; for p in ${hidden}; do mount --bind /dev/null /usr/bin/$p; done; exec "$@"`;
      const args = ['-m', 'bash', '-c', hide, 'bash', process.execPath, CLI, 'doctor', '--json'];
      const { stdout } = spawnSync('unshare', args, { cwd: bench.ws, env: bench.env, encoding: 'utf8' });
      const found = z.array(z.looseObject({ name: z.string() })).parse(JSON.parse(stdout));
      expect(found.find(({ name }) => name === 'sandbox: core dumps')).toMatchObject(cores);
      expect(found.find(({ name }) => name === 'sandbox: works')).toMatchObject({ works: true });
    },
  );

  it.skipIf(!MAY_RAISE)('are bounded of no process but belay: its command may be an orphan by then', () => {
    const look = 'grep "core file" /proc/$$/limits';
    const script = `${RAISE}; ${look}; "$@"; ${look}`;
    const args = ['-c', script, 'bash', ...limitCoresOf(), '/bin/cat', '/proc/self/limits'];
    const { stdout } = spawnSync('bash', args, { encoding: 'utf8' });
    const limits = [...stdout.matchAll(/^Max core file size\s+(\S+)\s+(\S+)/gm)].map(([, soft, hard]) => [soft, hard]);
    expect(limits).toEqual([
      ['unlimited', 'unlimited'],
      ['1', '1'],
      ['unlimited', 'unlimited'],
    ]);
  });

  it.skipIf(!writesCoresHere)('hold nothing of its memory when it dies before the limit is set', async () => {
    const key = ['key', 'of', 'the', 'model'].join('-');
    chmodSync(bench.ws, 0o777);
    /** Files that a crash leaves: their size, and whether they hold the key. */
    const crash = async (args: readonly string[]): Promise<{ bytes: number; key: boolean }[]> => {
      const folder = join(bench.root, `crash-${args.length}`);
      spawnSync('mkdir', [folder]);
      const child = spawn('bash', ['-c', `${RAISE}; exec "$@"`, 'bash', process.execPath, ...args], {
        cwd: folder,
        env: { ...bench.env, MODEL_KEY: key },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      child.kill('SIGSEGV');
      await once(child, 'exit');
      return readdirSync(folder).map((name) => ({
        bytes: statSync(join(folder, name)).size,
        key: readFileSync(join(folder, name)).includes(key),
      }));
    };
    expect(await crash(['-e', 'console.log(1); setInterval(() => undefined, 1000)'])).toMatchObject([{ key: true }]);
    const [own] = await crash([CLI, 'run', 'x', '--format', 'jsonl', '--workspace', bench.ws]);
    expect(own === undefined || (own.bytes < 100_000 && !own.key)).toBe(true);
  });
});
