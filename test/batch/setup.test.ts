import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench } from '../scenario.ts';
import { type BatchEnd, outcomesOf, runBatch, writeJobs } from './batch-run.ts';

let bench: Bench;
afterEach(() => bench.remove());

const MANIFEST = {
  name: 'app',
  version: '1.0.0',
  // What an install leaves differs every time, so that a shared one can be told from one's own.
  scripts: { postinstall: 'mkdir -p node_modules && od -An -N8 -tx1 /dev/urandom > node_modules/stamp' },
};
const LOCK = { name: 'app', version: '1.0.0', lockfileVersion: 3, requires: true, packages: { '': MANIFEST } };
const command = 'cat node_modules/stamp > stamp.txt; cat src.txt >> stamp.txt';

function openAt(setup: readonly object[], files: Record<string, string> = {}): void {
  bench = createBench({
    'belay.yml': JSON.stringify({
      version: 1,
      limits: { attempts: 1 },
      setup,
      verify: { checks: [{ name: 'stamped', run: 'grep -q . stamp.txt && grep -q . node_modules/stamp' }] },
    }),
    'package.json': JSON.stringify(MANIFEST),
    'package-lock.json': JSON.stringify(LOCK),
    '.gitignore': 'node_modules/\n',
    'src.txt': 'first\n',
    ...files,
  });
  commitAll(bench);
  bench.git('tag', 'first');
  bench.write('src.txt', 'second\n');
  commitAll(bench);
  bench.git('tag', 'second');
}

/** Setup commands that ran, and did not come from another job. */
const setupsRun = (end: BatchEnd) =>
  end.events.filter(
    (event) =>
      event.type === 'item.completed' &&
      event.phase === 'setup' &&
      'exit_code' in event.item &&
      event.item.exit_code === 0,
  ).length;
const patchesOf = (end: BatchEnd) => new Set(end.jobs.map(({ result }) => result.changes.patch_sha256)).size;

describe('setup in a batch', () => {
  it('is shared across commits with the same lock file and installer, and each tree is that of its own commit', async () => {
    openAt([{ run: 'npm ci' }]);
    const jobs = { one: { command, more: { ref: 'first' } }, two: { command, more: { ref: 'second' } } };
    const { file, replay } = writeJobs(bench, { ...jobs, three: { command, more: { ref: 'second' } } });
    const end = await runBatch([file, '--replay', replay, '--patches', join(bench.io, 'p')], bench);
    expect(outcomesOf(end), end.stderr).toEqual({ one: 'verified', two: 'verified', three: 'verified' });
    // The same stamp on both commits; the commits differ in their source.
    expect([setupsRun(end), patchesOf(end)]).toEqual([1, 2]);
  });

  it('is each commit’s own where the lock file differs, or a command does more than install', async () => {
    openAt([{ run: 'npm ci' }]);
    bench.write('package-lock.json', JSON.stringify({ ...LOCK, version: '1.0.1' }));
    commitAll(bench);
    const refs = { one: { command, more: { ref: 'first' } }, two: { command } };
    const { file, replay } = writeJobs(bench, refs);
    const other = await runBatch([file, '--replay', replay], bench);
    expect([outcomesOf(other), setupsRun(other)]).toEqual([{ one: 'verified', two: 'verified' }, 2]);
    bench.remove();

    openAt([{ run: 'npm ci && cat src.txt >> node_modules/stamp' }]);
    const own = writeJobs(bench, { one: { command, more: { ref: 'first' } }, two: { command } });
    const built = await runBatch([own.file, '--replay', own.replay], bench);
    expect([outcomesOf(built), setupsRun(built)]).toEqual([{ one: 'verified', two: 'verified' }, 2]);
  });

  it('that fails in one job is done by the next itself', async () => {
    // Fails where the state folder has not seen it yet: the first of the two.
    openAt([{ run: 'mkdir -p node_modules && test -f broken.txt && exit 3; echo x > node_modules/stamp' }]);
    bench.write('broken.txt', 'x\n');
    commitAll(bench);
    const { file, replay } = writeJobs(bench, { broken: { command }, fine: { command, more: { ref: 'first' } } });
    const end = await runBatch([file, '--replay', replay, '--concurrency', '1'], bench);
    expect(outcomesOf(end)).toEqual({ broken: 'setup_failed', fine: 'verified' });
  });
});
