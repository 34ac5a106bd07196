import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

let bench: Bench;
let mounted: string[] = [];
afterEach(() => {
  for (const dir of mounted) execFileSync('umount', [dir]);
  mounted = [];
  bench.remove();
});

/** A state folder on a disk of its own. */
function disk(options: string): string {
  const dir = join(bench.root, 'disk');
  mkdirSync(dir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir]);
  mounted.push(dir);
  return dir;
}

function canMount(): boolean {
  if (process.geteuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const call = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;

describe.skipIf(!canMount())('a state folder', () => {
  it('that is full ends the run, named, with its last event, and the workspace as it was', async () => {
    bench = createBench({
      'a.txt': 'a\n',
      'belay.yml': 'version: 1\nlimits: {output_bytes: 1KiB}\nverify: {checks: []}\n',
    });
    commitAll(bench);
    const before = treeOf(bench.ws);
    const cassette = join(bench.io, 'model.jsonl');
    writeFileSync(
      cassette,
      call('shell', { command: 'echo changed > a.txt' }) +
        call('shell', { command: 'head -c 30000000 /dev/urandom | base64' }) +
        call('shell', { command: 'echo once-more >> a.txt; echo b > b.txt' }) +
        call('finish', { status: 'done', summary: 'done' }),
    );
    const files = ['--result', join(bench.io, 'result.json'), '--patch', join(bench.io, 'change.patch')];
    const env = { BELAY_HOME: disk('size=6m') };
    const end = await runCli(['run', 'fill', '--replay', cassette, ...files], bench, { env });
    expect({
      code: end.code,
      outcome: end.result?.outcome,
      error: end.result?.error?.code,
      reason: end.result?.reason,
      ends: end.events.filter(({ type }) => type === 'run.completed').length,
      open:
        end.events.filter(({ type }) => type === 'item.started').length -
        end.events.filter(({ type }) => type === 'item.completed').length,
      result: JSON.parse(readFileSync(join(bench.io, 'result.json'), 'utf8')).outcome,
    }).toEqual({
      code: 1,
      outcome: 'internal_error',
      error: 'state_unwritable',
      reason: expect.stringContaining('ENOSPC'),
      ends: 1,
      open: 0,
      result: 'internal_error',
    });
    expect(treeOf(bench.ws)).toEqual(before);
  });

  it('that is full stops resume, rollback and import, named and with nothing lost, and with room again they go through', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
    commitAll(bench);
    const dir = disk('size=40m');
    const home = (name: string) => ({ env: { BELAY_HOME: join(dir, name) } });
    const cassette = (answers: readonly string[]) => {
      writeFileSync(join(bench.io, 'model.jsonl'), answers.join(''));
      return join(bench.io, 'model.jsonl');
    };
    const shell = (command: string) => call('shell', { command });
    const start = [shell('echo 1 > a.txt'), shell('echo 2 > a.txt; seq 1 20000')];
    const first = await runCli(['run', 'count', '--replay', cassette(start), '--turns', '2'], bench, home('here'));
    const id = first.result?.thread_id ?? first.stderr;
    const before = treeOf(bench.ws);
    const file = join(bench.io, 'thread.belay');
    expect((await runCli(['thread', 'export', id, file], bench, home('here'))).code).toBe(0);
    const audit = async () => (await runCli(['audit', id], bench, home('here'))).code;
    const leave = (bytes: number) => {
      writeFileSync(join(dir, 'filler'), '');
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(join(dir, 'filler'), Buffer.alloc(bavail * bsize - bytes));
    };
    const resume = (passed: number, command: string) => {
      const rest = [shell(command), call('finish', { status: 'done', summary: 'done' })];
      const all = [...Array.from({ length: passed }, () => '{"text":"x"}\n'), ...rest];
      return runCli(['resume', id, '--replay', cassette(all), '--turns', '9'], bench, home('here'));
    };
    const rollback = () => runCli(['thread', 'rollback', id, '--to-turn', '2'], bench, home('here'));
    const take = () => runCli(['thread', 'import', file], bench, home('there'));

    // No room at all, and room for a part of the work.
    for (const bytes of [0, 64 * 1024]) {
      leave(bytes);
      for (const [name, end, code] of [
        ['rollback', await rollback(), 1],
        ['import', await take(), 2],
      ] as const)
        expect([name, bytes, end.code, end.stderr]).toEqual([
          name,
          bytes,
          code,
          expect.stringMatching(/ENOSPC|No space/),
        ]);
    }
    expect({ tree: treeOf(bench.ws), audit: await audit() }).toEqual({ tree: before, audit: 0 });

    leave(2 * 1024 * 1024);
    const stopped = await resume(2, 'echo 3 >> a.txt; head -c 8000000 /dev/urandom > big');
    expect({ code: stopped.code, outcome: stopped.result?.outcome, reason: stopped.result?.reason }).toEqual({
      ...{
        code: 1,
        outcome: 'internal_error',
        reason: expect.stringMatching(/No space left on device|Out of diskspace/),
      },
    });
    // Where there is no room to keep the work, it stays where it is.
    expect([bench.read('a.txt'), statSync(join(bench.ws, 'big')).size, await audit()]).toEqual([
      '2\n3\n',
      8_000_000,
      0,
    ]);

    rmSync(join(dir, 'filler'));
    expect([(await take()).stderr]).toEqual([expect.stringContaining('goes on with it')]);
    const last = await resume(3, 'echo 4 >> a.txt');
    expect([last.code, last.stderr, bench.read('a.txt')]).toEqual([0, expect.any(String), '2\n3\n4\n']);
    expect([(await rollback()).code, Object.keys(treeOf(bench.ws)), bench.read('a.txt'), await audit()]).toEqual([
      ...[0, ['a.txt', 'belay.yml'], '2\n', 0],
    ]);
  }, 120_000);

  it('that is read-only is a usage error, before anything runs', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    writeFileSync(cassette, call('finish', { status: 'done', summary: 'done' }));
    const end = await runCli(['run', 'look', '--replay', cassette], bench, { env: { BELAY_HOME: disk('ro') } });
    expect({ code: end.code, outcome: end.result?.outcome, reason: end.result?.reason }).toEqual({
      code: 2,
      outcome: 'usage_error',
      reason: expect.stringMatching(/disk.*BELAY_HOME/),
    });
  });
});
