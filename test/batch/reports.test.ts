import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';
import { runBatch, writeJobs } from './batch-run.ts';
import { resultOf } from './record.ts';

let bench: Bench;
/** Two of three, each run on a machine of its own. */
let shards: ShardFiles[];
beforeAll(async () => {
  bench = createBench({
    'belay.yml': JSON.stringify({
      version: 1,
      limits: { attempts: 1 },
      verify: { checks: [{ name: 'good', run: 'grep -q good a.txt' }] },
    }),
    'a.txt': 'bad\n',
  });
  commitAll(bench);
  shards = await runShards();
}, 120_000);
afterAll(() => bench.remove());

const at = (name: string) => join(bench.io, name);
const pagesIn = (folder: string) => readdirSync(join(folder, 'jobs')).map((name) => name.replace(/\.r_\w+/, '.RUN'));
const indexOf = (folder: string, name = 'index.html') => readFileSync(join(folder, name), 'utf8');

interface ShardFiles {
  events: string;
  results: string;
  reports: string;
}

/** Machines differ by their state folders. */
async function runShards(): Promise<ShardFiles[]> {
  const good = { command: 'echo good > a.txt' };
  const { file, replay } = writeJobs(bench, { one: good, two: { command: 'echo worse > a.txt' }, three: good });
  const ran: ShardFiles[] = [];
  for (const index of [1, 2]) {
    const files = { events: at(`e${index}.jsonl`), results: at(`r${index}.jsonl`), reports: at(`reports${index}`) };
    const outputs = Object.entries(files).flatMap(([name, path]) => [`--${name}`, path]);
    await runBatch([file, '--replay', replay, '--shard', `${index}/3`, ...outputs], bench, {
      env: { XDG_STATE_HOME: join(bench.root, `state${index}`) },
    });
    ran.push(files);
  }
  return ran;
}

describe('the pages of a batch', () => {
  it('are an index, and one for each run with its diff, joined by a merge that names the shard that left nothing', async () => {
    const [first, second] = shards.map(({ reports }) => reports);
    expect([pagesIn(first ?? ''), pagesIn(second ?? '')]).toEqual([['one.RUN.html'], ['two.RUN.html']]);

    const joined = at('joined');
    const merged = ['batch', 'merge', ...shards.map(({ events }) => events), '--format', 'quiet'];
    expect((await runCli([...merged, '--reports', joined], bench)).code).toBe(10);
    expect(pagesIn(joined)).toEqual(['one.RUN.html', 'two.RUN.html']);
    const index = indexOf(joined);
    expect(index).toContain('1 of 2 verified');
    expect(index).toMatch(/role="alert".*This shard left nothing here: 3\..*1 job has no verdict here\./s);
    expect(indexOf(joined, 'index.md')).toContain('This shard left nothing here: 3.');
    for (const [, name] of index.matchAll(/href="(jobs\/[^"]+)"/g)) {
      const page = indexOf(joined, name);
      expect(page).toContain('<span class="d">-bad</span>');
      expect(page).not.toContain('role="alert"');
    }
    expect([...index.matchAll(/href="jobs\//g)]).toHaveLength(2);
  });

  it('are those that the shards left, where a merge has only their results', async () => {
    const all = at('all');
    mkdirSync(join(all, 'jobs'), { recursive: true });
    const left: string[] = [];
    for (const { reports } of shards)
      for (const name of readdirSync(join(reports, 'jobs'))) {
        left.push(name);
        writeFileSync(join(all, 'jobs', name), readFileSync(join(reports, 'jobs', name)));
      }
    const stale = 'one.r_another_run.html';
    writeFileSync(join(all, 'jobs', stale), 'of another night');
    await runCli(
      ['batch', 'merge', ...shards.map(({ results }) => results), '--format', 'quiet', '--reports', all],
      bench,
    );
    for (const name of left) expect(indexOf(all)).toContain(`href="jobs/${name}"`);
    expect(indexOf(all)).not.toContain(stale);
  });

  it('have each alternative with its patch, and which one was kept', async () => {
    const { file, replay } = writeJobs(bench, { one: { command: 'echo good > a.txt' } });
    const reports = at('reports');
    await runBatch([file, '--replay', replay, '--attempts-per-job', '2', '--reports', reports], bench);
    expect(pagesIn(reports)).toEqual(['one.RUN.html', 'one.RUN.html']);
    expect(readdirSync(join(reports, 'patches')).sort()).toEqual(['one.1.patch', 'one.2.patch', 'one.patch']);
    expect(indexOf(reports)).toMatch(/Jobs with several runs.*run 1, kept.*run 2</s);
    for (const name of readdirSync(join(reports, 'jobs')))
      expect(indexOf(reports, `jobs/${name}`)).toContain('<span class="a">+good</span>');
  });

  it('stay in their folder, whatever a file of results says', async () => {
    const ids = [
      ['../../evil', 'r_1'],
      ['fine', '../../../evil'],
      ['..', 'r_2'],
      ['fine', 'r_3/../../evil'],
    ] as const;
    const lines = ids.flatMap(([id, run]) => [
      { type: 'turn.started', run_id: run, job_id: id },
      { job_id: id, result: { ...resultOf(), run_id: run } },
    ]);
    writeFileSync(at('evil.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const before = treeOf(bench.root);
    const end = await runCli(['batch', 'merge', at('evil.jsonl'), '--format', 'quiet', '--reports', at('out')], bench);
    expect(end.stderr).toBe('');
    const added = Object.keys(treeOf(bench.root)).filter((path) => !(path in before));
    expect(added).toEqual(['io/out/index.html', 'io/out/index.md']);
    expect(indexOf(at('out'))).not.toMatch(/href="jobs/);
  });

  it('need a folder that can be written', async () => {
    writeFileSync(at('taken'), '');
    const { file, replay } = writeJobs(bench, { one: { command: 'true' } });
    const state = at('untouched');
    const end = await runBatch([file, '--replay', replay, '--reports', at('taken')], bench, {
      env: { XDG_STATE_HOME: state },
    });
    expect([end.code, end.stderr.includes('--reports: cannot write to')]).toEqual([2, true]);
    expect(existsSync(state)).toBe(false);
  });
});

describe('a merge', () => {
  it('takes a run that is in several files from the one that has all of it', async () => {
    const [shard] = shards;
    const whole = readFileSync(shard?.events ?? '', 'utf8');
    writeFileSync(at('torn.jsonl'), whole.slice(0, whole.length / 2));
    const out = at('out.jsonl');
    const files = [at('torn.jsonl'), shard?.events ?? '', shard?.events ?? ''];
    await runCli(['batch', 'merge', ...files, '--events', out, '--format', 'quiet'], bench);
    expect((await runCli(['audit', out], bench)).stdout).toMatch(/^ok: \d+ events, 1 runs, 1 jobs, exit code 10\n$/);
  });

  it('takes jobs that were done before others came to the batch', async () => {
    const good = { command: 'echo good > a.txt' };
    const { file, replay } = writeJobs(bench, { early: good });
    const args = ['--replay', replay, '--results', at('grown.jsonl'), '--events', at('grown-events.jsonl')];
    const env = { XDG_STATE_HOME: at('grown-state') };
    await runBatch([file, ...args], bench, { env });
    writeJobs(bench, { early: good, late: good });
    const grown = await runBatch([file, ...args], bench, { env });
    expect(grown.jobs.map(({ job_id, recorded }) => [job_id, recorded])).toEqual([
      ['early', true],
      ['late', false],
    ]);
    for (const from of ['grown.jsonl', 'grown-events.jsonl']) {
      const end = await runBatch(['merge', at(from)], bench);
      expect([end.stderr.includes('another batch'), end.code, end.completed?.jobs]).toEqual([false, 0, 2]);
    }
  });
});
