import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { rollUp } from '../../src/batch/index.ts';
import { type JobRecord, type Outcome, readJsonLines } from '../../src/events/index.ts';
import { foldBatch, renderBatchHtml, renderBatchMarkdown, renderComparisonMarkdown } from '../../src/report/index.ts';
import { sampleResult } from '../events/sample-events.ts';
import { type Bench, createBench, runCli } from '../scenario.ts';
import { ATTACKS } from './hostile-run.ts';

const job = (id: string, outcome: Outcome, more: Partial<JobRecord['result']> = {}): JobRecord => ({
  job_id: id,
  result: sampleResult({ outcome, verified: outcome === 'verified', duration_ms: 1_000, cost_usd: 0.5, ...more }),
});
const text = (records: readonly JobRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const fold = (lines: string, source = 'results.jsonl') => foldBatch(readJsonLines([Buffer.from(lines)]), source);

const before = [job('a', 'verified'), job('b', 'unverified'), job('c', 'verified'), job('gone', 'gave_up')];
const after = [job('a', 'verified'), job('b', 'verified'), job('c', 'policy_violation'), job('new', 'verified')];

describe('a batch report', () => {
  it('has the measures of the batch and its jobs, those that failed first', async () => {
    const view = await fold(text(before));
    const nothing = {
      recorded: 0,
      batch: null,
      shard: null,
      durationMs: 0,
      stopped: null,
      combination: null,
      missing: null,
    };
    expect(view.measures).toEqual(rollUp({ ...nothing, records: before }).measures);
    const markdown = renderBatchMarkdown(view);
    expect(markdown).toContain('2 of 4 verified');
    expect(markdown).toContain('| completion rate (verified jobs) | 50.0 % |');
    expect(markdown.indexOf('`b`')).toBeLessThan(markdown.indexOf('`a`'));
  });

  it.each(ATTACKS)('holds text of others as text: %j', async (attack) => {
    const view = await fold(text([job('a', 'unverified', { reason: attack })]), attack);
    const page = renderBatchHtml(view);
    expect(page, 'control: the text is there').toContain('EVIL');
    expect(page).not.toMatch(/<(script|img|iframe|b)\b|<[^>]*\son\w+\s*=/i);
    expect(
      renderBatchMarkdown(view)
        .split('\n')
        .filter((line) => /^\s*::|##\w*\[/.test(line)),
    ).toEqual([]);
  });

  it('says which measures went up or down between two batches, and which jobs ended otherwise', async () => {
    const markdown = renderComparisonMarkdown(await fold(text(before)), await fold(text(after)));
    expect(markdown).toContain('2 → 3 verified');
    expect(markdown).toContain('| completion rate (verified jobs) | 50.0 % | 75.0 % | ✅ +25.0 % |');
    expect(markdown).toMatch(/`b` \| unverified \| ✅ verified/);
    expect(markdown).toMatch(/`c` \| verified \| ❌ policy violation/);
    expect(markdown).toMatch(/`new` \| not there \| ✅ verified/);
    expect(markdown).toMatch(/`gone` \| gave up \| not there/);
    expect(markdown).not.toContain('`a`');
  });
});

describe('a comparison of batches', () => {
  const compare = async (from: JobRecord[], to: JobRecord[]) =>
    renderComparisonMarkdown(await fold(text(from)), await fold(text(to)));
  const spent = (id: string, tokens: number) =>
    job(id, 'verified', { usage: { ...sampleResult().usage, input_tokens: tokens, requests: 1 } });

  it('tells differences in whole tokens, and none that rounds to nothing', async () => {
    const markdown = await compare(
      [
        spent('a', 1_000),
        spent('b', 1_000),
        { ...spent('c', 1_001), result: { ...spent('c', 1_001).result, duration_ms: 1_040 } },
      ],
      [spent('a', 800), spent('b', 800), spent('c', 800)],
    );
    expect(markdown).toContain('| tokens a run | 1.0k | 800 | ✅ −200 |');
    expect(markdown).toContain('| time a verified job | 1.0 s | 1.0 s |  |');
  });

  it('is good when no job was lost, a warning when as many were won, and bad when more were lost', async () => {
    const [won, lost] = [
      [job('a', 'unverified'), job('b', 'verified')],
      [job('a', 'verified'), job('b', 'unverified')],
    ];
    expect(await compare(before, before)).toMatch(/^## ✅ 2 → 2 verified/);
    expect(await compare(won, lost)).toMatch(/^## ⚠️ 1 → 1 verified/);
    expect(await compare([job('a', 'verified')], [job('a', 'gave_up')])).toMatch(/^## ❌ 1 → 0 verified/);
  });
});

describe('belay report of batches', () => {
  const bench: Bench = createBench();
  const folder = mkdtempSync(join(tmpdir(), 'belay-batch-report-'));
  const put = (name: string, lines: string) => {
    writeFileSync(join(folder, name), lines);
    return join(folder, name);
  };
  afterAll(() => {
    bench.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('takes the events of a batch, and says where they are cut off', async () => {
    bench.write('belay.yml', 'version: 1\nverify: {checks: [{name: there, run: "test -f made.txt"}]}\n');
    bench.git('add', '-A');
    bench.git('-c', 'user.name=T', '-c', 'user.email=t@example.invalid', 'commit', '-q', '-m', 'base');
    const cassette = put(
      'c.jsonl',
      `${JSON.stringify({ tool_calls: [{ name: 'shell', input: { command: 'echo x > made.txt' } }] })}\n{"text": "made"}\n`,
    );
    const jobs = put('jobs.jsonl', '{"id": "one", "goal": "make it"}\n');
    const events = join(folder, 'events.jsonl');
    const run = await runCli(['batch', jobs, '--replay', cassette, '--events', events, '--format', 'quiet'], bench);
    expect(run.code, run.stderr).toBe(0);
    const page = join(folder, 'batch.html');
    expect((await runCli(['report', events, '-o', page], bench)).code).toBe(0);
    expect(readFileSync(page, 'utf8')).toContain('1 of 1 verified');
    expect(readFileSync(page, 'utf8')).not.toContain('role="alert"');
    const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
    const cut = await runCli(['report', put('cut.jsonl', `${lines.slice(0, -1).join('\n')}\n`)], bench);
    expect([cut.code, cut.stdout.includes('cut off'), cut.stderr.includes('the log is broken')]).toEqual([
      0,
      true,
      true,
    ]);
  });

  it('compares two files of results as a page', async () => {
    const page = join(folder, 'compare.html');
    const end = await runCli(
      ['report', '--compare', put('a.jsonl', text(before)), put('b.jsonl', text(after)), '-o', page],
      bench,
    );
    expect(end.code, end.stderr).toBe(0);
    expect(readFileSync(page, 'utf8')).toContain('2 → 3 verified');
  });

  it('refuses formats that are for one run, and to compare what is no batch', async () => {
    const batch = put('a.jsonl', text(before));
    const junit = await runCli(['report', batch, '--format', 'junit'], bench);
    expect([junit.code, junit.stderr.includes('is for one run')]).toEqual([2, true]);
    const other = await runCli(['report', '--compare', batch, put('run.jsonl', '{"type":"run.started"}\n')], bench);
    expect([other.code, other.stderr.includes('needs two batches')]).toEqual([2, true]);
  });
});
