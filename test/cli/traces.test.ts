import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { startCollector } from './start-collector.ts';

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function bench(): Bench {
  const made = createBench({ 'belay.yml': 'version: 1\nverify: {checks: [{name: there, run: "test -f made.txt"}]}\n' });
  commitAll(made);
  closers.push(() => made.remove());
  writeFileSync(
    join(made.io, 'c.jsonl'),
    [
      {
        text: 'words-4711',
        tool_calls: [{ name: 'shell', input: { command: 'echo out-4711 > made.txt; cat made.txt' } }],
        usage: { input_tokens: 900, output_tokens: 40 },
      },
      { tool_calls: [{ name: 'shell', input: { command: 'exit 3' } }] },
      { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'made' } }] },
    ]
      .map((answer) => JSON.stringify(answer))
      .join('\n'),
  );
  return made;
}
const run = (made: Bench, env: NodeJS.ProcessEnv) =>
  runCli(['run', 'goal-4711', '--replay', join(made.io, 'c.jsonl')], made, { env });

describe('traces', () => {
  it('tell a run as invoke_agent, chat, execute_tool and check spans, below the pipeline that started it, without content', async () => {
    const collector = await startCollector();
    closers.push(collector.close);
    const parent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    const end = await run(bench(), {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b,authorization=Basic%20eA==',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=ci',
      TRACEPARENT: parent,
      TRACESTATE: 'vendor=1',
    });
    expect(end.code, end.stderr).toBe(0);
    expect(new Set(collector.received.map((one) => one.path))).toEqual(new Set(['/v1/traces']));
    expect(collector.received[0]?.headers).toMatchObject({
      'x-team': 'a b',
      authorization: 'Basic eA==',
      'content-type': 'application/json',
    });
    const spans = collector.spans();
    const root = spans.find((span) => span.name === 'invoke_agent belay');
    expect(root).toMatchObject({
      parentSpanId: 'cd'.repeat(8),
      kind: 1,
      traceState: 'vendor=1',
      resource: { 'service.name': 'belay', 'deployment.environment.name': 'ci' },
    });
    expect(root?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'belay.outcome': 'verified',
      'belay.run_id': end.result?.run_id,
    });
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set(['ab'.repeat(16)]));
    const below = spans.filter((span) => span !== root);
    expect(new Set(below.map((span) => span.parentSpanId))).toEqual(new Set([root?.spanId]));
    expect(below.filter((span) => span.name.startsWith('chat ')).map((span) => span.kind)).toEqual([3, 3, 3]);
    expect(below.find((span) => span.name.startsWith('chat '))?.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 900,
      'gen_ai.usage.output_tokens': 40,
    });
    const tools = below.filter((span) => span.name === 'execute_tool shell');
    expect(tools.map((span) => [span.attributes['belay.exit_code'], span.status?.message])).toEqual([
      [0, undefined],
      [3, 'failed'],
    ]);
    expect(
      below
        .filter((span) => span.name === 'check there')
        .map((span) => [span.attributes['belay.phase'], span.attributes['belay.check.passed']]),
    ).toEqual([
      ['baseline', false],
      ['verify', true],
      ['clean_room', true],
    ]);
    for (const span of spans)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    expect(collector.received.map((one) => one.body).join()).not.toContain('4711');
  });

  it('are joined by those of setup and checks that the policy gives TRACEPARENT, and by no others', async () => {
    const parent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    // What is passed by name is blanked in the log: the programs themselves say whether they have it.
    const has = `test "$TRACEPARENT" = ${parent}`;
    const env = { pass: ['TRACEPARENT'] };
    const none = { name: 'untraced', run: 'test -z "$TRACEPARENT$OTEL_EXPORTER_OTLP_HEADERS"' };
    const policy = {
      version: 1,
      setup: [{ run: has, env }],
      verify: { checks: [{ name: 'traced', run: has, env }, none] },
    };
    const made = createBench({ 'belay.yml': JSON.stringify(policy) });
    commitAll(made);
    closers.push(() => made.remove());
    writeFileSync(join(made.io, 'c.jsonl'), `${JSON.stringify({ text: 'done' })}\n`);
    const end = await run(made, { TRACEPARENT: parent, OTEL_EXPORTER_OTLP_HEADERS: 'a=b' });
    expect([end.result?.outcome, end.result?.checks.map(({ final }) => final)]).toEqual([
      'verified',
      ['passed', 'passed'],
    ]);
    expect((await run(made, {})).result?.outcome, 'control: without one, they fail').toBe('setup_failed');
  });

  it('carry what was said and done only when that is asked for', async () => {
    const collector = await startCollector();
    closers.push(collector.close);
    await run(bench(), {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    });
    expect(collector.received[0]?.path).toBe('/own/path');
    const bodies = collector.received.map((one) => one.body).join();
    for (const content of ['goal-4711', 'words-4711', 'out-4711']) expect(bodies).toContain(content);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['the SDK is disabled', { OTEL_SDK_DISABLED: 'true' }],
    ['the exporter is none', { OTEL_TRACES_EXPORTER: 'none' }],
    ['the trace is not sampled', { TRACEPARENT: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-00` }],
  ])('are not sent when %s', async (_, env) => {
    const collector = await startCollector();
    closers.push(collector.close);
    expect((await run(bench(), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })).code).toBe(0);
    expect(collector.received).toEqual([]);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['refuses', (response) => void response.writeHead(403).end()],
    ['is overloaded', (response) => void response.writeHead(503).end()],
    ['never answers', () => undefined],
    ['breaks off', (response) => void response.destroy()],
  ])('change neither outcome nor stream when the collector %s, and that is told once', async (_, answer) => {
    const collector = await startCollector(answer);
    closers.push(collector.close);
    const end = await run(bench(), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect([end.code, end.result?.outcome]).toEqual([0, 'verified']);
    expect(collector.received.length, 'control: it was asked').toBeGreaterThan(0);
    expect(end.stderr.match(/no traces to 127\.0\.0\.1/g)).toHaveLength(1);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['is not there', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }],
    ['is no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' }],
    ['speaks gRPC', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    [
      'gets a header that HTTP forbids',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_HEADERS: 'a%0Ab=c%0Ad' },
    ],
  ])('cost the run nothing when the collector %s', async (_, env) => {
    const end = await run(bench(), env);
    expect([end.code, end.result?.outcome]).toEqual([0, 'verified']);
    expect(end.stderr).toContain('belay: ');
  });
});
