import { afterEach, describe, expect, it } from 'vitest';
import { startCollector } from '../cli/start-collector.ts';
import { type Bench, commitAll, createBench } from '../scenario.ts';
import { outcomesOf, runBatch, writeJobs } from './batch-run.ts';

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open() {
  const collector = await startCollector();
  const bench: Bench = createBench({
    'belay.yml': 'version: 1\nlimits: {attempts: 1}\nverify: {checks: [{name: good, run: "grep -q good a.txt"}]}\n',
    'a.txt': 'bad\n',
  });
  commitAll(bench);
  closers.push(collector.close, () => bench.remove());
  const { file, replay } = writeJobs(bench, {
    one: { command: 'echo good-4711 > a.txt' },
    two: { command: 'echo bad > a.txt' },
  });
  return { collector, bench, args: [file, '--replay', replay] };
}

describe('traces of a batch', () => {
  it('are one: a span around it below the pipeline, and each job with its id below that span', async () => {
    const { collector, bench, args } = await open();
    const end = await runBatch(args, bench, {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        TRACEPARENT: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`,
        TRACESTATE: 'vendor=1',
      },
    });
    expect([end.code, outcomesOf(end)]).toEqual([10, { one: 'verified', two: 'unverified' }]);
    const spans = collector.spans();
    expect(new Set(spans.map(({ traceId, traceState }) => `${traceId} ${traceState}`))).toEqual(
      new Set([`${'ab'.repeat(16)} vendor=1`]),
    );
    const [batch, ...others] = spans.filter((span) => span.parentSpanId === 'cd'.repeat(8));
    expect(others).toEqual([]);
    expect(batch).toMatchObject({
      name: 'batch',
      kind: 1,
      status: { code: 2, message: 'jobs_failed' },
      attributes: {
        'belay.batch_id': end.completed?.run_id,
        'belay.shard': '1/1',
        'belay.jobs': 2,
        'belay.jobs.verified': 1,
        'belay.jobs.recorded': 0,
        'belay.exit_code': 10,
        'gen_ai.usage.input_tokens': 400,
        'error.type': 'jobs_failed',
      },
    });
    const runs = spans.filter((span) => span.name === 'invoke_agent belay');
    expect(runs.map((span) => span.parentSpanId)).toEqual([batch?.spanId, batch?.spanId]);
    expect(
      Object.fromEntries(runs.map(({ attributes }) => [attributes['belay.job_id'], attributes['belay.outcome']])),
    ).toEqual({ one: 'verified', two: 'unverified' });
    for (const run of runs) {
      const below = spans.filter((span) => span.parentSpanId === run.spanId).map((span) => span.name);
      expect(below).toEqual(expect.arrayContaining(['execute_tool shell', 'check good']));
      expect(BigInt(run.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(batch?.startTimeUnixNano ?? 0));
      expect(BigInt(run.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(batch?.endTimeUnixNano ?? 0));
    }
    expect(collector.received.map((one) => one.body).join(), 'content is off').not.toContain('4711');
  });

  it('are one of their own without a pipeline’s, and none when that is not sampled', async () => {
    const { collector, bench, args } = await open();
    const once = [...args, '--shard', '1/2'];
    await runBatch(once, bench, {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACEPARENT: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-00` },
    });
    expect(collector.received).toEqual([]);
    await runBatch(once, bench, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    const spans = collector.spans();
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    expect(spans.filter((span) => span.parentSpanId === undefined).map((span) => span.name)).toEqual(['batch']);
  });

  it('cost the batch nothing when the collector refuses, which the batch tells once', async () => {
    const { collector, bench, args } = await open();
    await collector.close();
    const end = await runBatch(args, bench, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    expect([end.code, outcomesOf(end)]).toEqual([10, { one: 'verified', two: 'unverified' }]);
    expect(end.stderr.match(/no traces to 127\.0\.0\.1/g)).toHaveLength(1);
  });
});
