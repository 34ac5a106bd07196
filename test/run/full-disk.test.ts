import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
