import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Event } from '../../src/events/index.ts';
import { createRequestDigest } from '../../src/model/index.ts';
import { chat, chatCall, type Step, startScriptedServer } from '../model/scripted-server.ts';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

const LINES = Array.from({ length: 150 }, (_, k) => `line ${k}: some words that fill the window of a model`).join('\n');
const TOO_LONG: Step = {
  status: 400,
  body: JSON.stringify({
    error: { message: 'this is too much', type: 'invalid_request_error', code: 'context_length_exceeded' },
  }),
};
const show = (i: number, id = `call_${i}`) =>
  chat(chatCall('shell', JSON.stringify({ command: `cat part-${i}.txt` }), 0, id), 'tool_calls');
const done = chat(chatCall('finish', '{"status": "done", "summary": "so it is"}'), 'tool_calls');

async function served(steps: readonly Step[], policy: { window?: number; limits?: object; keys?: object }) {
  const server = await startScriptedServer(steps);
  onTestFinished(() => server.close());
  const model = {
    ...{ provider: 'openai-compatible', name: 'm', base_url: `${server.url}/v1`, retries: 0 },
    ...(policy.window === undefined ? {} : { context_window: policy.window }),
  };
  const parts = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`part-${i}.txt`, `part ${i}\n${LINES}\n`]));
  const bench = createBench({
    ...parts,
    'belay.yml': JSON.stringify({
      version: 1,
      model,
      limits: policy.limits ?? {},
      verify: { checks: [] },
      ...policy.keys,
    }),
  });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  return { bench, server };
}

const run = (bench: Bench, ...more: string[]) => runCli(['run', 'goal-4711: go on', ...more], bench);
const bytesOf = (request: { raw: string } | undefined) => request?.raw.length ?? 0;

describe('a request that is too long for the provider', () => {
  const before = Array.from({ length: 6 }, (_, i) => show(i));

  it('is compacted and sent once more', async () => {
    const { bench, server } = await served([...before, TOO_LONG, done], {});
    const { result, events } = await run(bench);
    expect(result).toMatchObject({ outcome: 'unchecked', limits: { turns: { used: 8 } } });
    expect(events.flatMap((event) => (event.type === 'turn.failed' ? [event.error.code] : []))).toEqual([
      'context_too_long',
    ]);
    expect(events.filter(({ type }) => type === 'context.compacted')).toMatchObject([{ kind: 'elide' }]);
    expect(bytesOf(server.requests[7])).toBeLessThan(0.7 * bytesOf(server.requests[6]));
    expect(server.requests[7]?.raw).toContain('goal-4711');
  });

  it('ends the run when the provider still refuses it', async () => {
    const { bench, server } = await served([...before, TOO_LONG, TOO_LONG, done], {});
    const { result, code } = await run(bench);
    expect(code).toBe(20);
    expect(result).toMatchObject({ outcome: 'model_failed', error: { code: 'context_too_long', retryable: false } });
    expect(server.requests).toHaveLength(8);
  });

  it('ends the run at once when there is nothing to leave out', async () => {
    const { bench, server } = await served([TOO_LONG, done], {});
    expect(await run(bench)).toMatchObject({ code: 20 });
    expect(server.requests).toHaveLength(1);
  });
});

/** What `thread show --request` says of a turn that asked for a summary. */
async function askedOf(bench: Bench, { events, turn }: { events: readonly Event[]; turn: number }) {
  const started = events.find((event) => event.type === 'turn.started' && event.turn === turn);
  const [{ thread_id: id = '' } = {}] = events.flatMap((event) => (event.type === 'thread.started' ? [event] : []));
  const { stdout } = await runCli(['thread', 'show', id, '--request', String(turn), '--json'], bench);
  const { purpose, pieces, summary } = JSON.parse(stdout);
  const [system = '', ...parts] = pieces.map((piece: { text: string }) => piece.text);
  const messages = [{ role: 'user' as const, text: parts.join('\n\n') }];
  const digest = createRequestDigest()({ system, tools: [], messages, cacheKey: '' });
  return {
    purpose,
    isWhatWasSent: started?.type === 'turn.started' && started.request_sha256 === digest,
    pieces: pieces.map((piece: { source: string; trusted: boolean }) => [piece.source, piece.trusted]),
    summary,
  };
}

describe('a past that outgrows the window', () => {
  const essay = (i: number) =>
    chat(
      [
        { content: `thought ${i}. ${'It goes on and on. '.repeat(400)}` },
        ...chatCall('shell', `{"command": "echo ${i}"}`, 0, `call_${i}`),
      ],
      'tool_calls',
    );
  const summary = chat([{ content: 'summary-4714: all is as it was' }]);
  const steps = [essay(0), essay(1), essay(2), essay(3), essay(4), essay(5), summary, done];
  const policy = { window: 8000, keys: { context: { soften_at: 0.5, compact_at: 0.7 } } };

  it('becomes a summary, which is a turn of its own', async () => {
    const { bench, server } = await served(steps, policy);
    const cassette = join(bench.io, 'model.jsonl');
    const { result, events } = await run(bench, '--record', cassette);
    expect(result).toMatchObject({ outcome: 'unchecked', usage: { requests: 8 }, limits: { turns: { used: 8 } } });
    const [compacted] = events.filter((event) => event.type === 'context.compacted');
    expect(compacted).toMatchObject({
      kind: 'summarize',
      summary: 'summary-4714: all is as it was',
      summary_by: 'model',
    });
    expect(events.flatMap((event) => (event.type === 'turn.started' ? [event.purpose ?? 'work'] : []))).toEqual([
      ...Array(6).fill('work'),
      'summary',
      'work',
    ]);
    expect(server.requests[6]?.body['tools']).toBeUndefined();
    const last = server.requests[7]?.raw ?? '';
    for (const text of ['goal-4711', 'summary-4714', 'Answers: 33 of 40 left', 'thought 5.'])
      expect(last).toContain(text);
    expect(last).not.toContain('thought 1.');
    expect(last).toContain(bench.ws);

    expect(await askedOf(bench, { events, turn: 7 })).toEqual({
      ...{ purpose: 'summary', isWhatWasSent: true },
      pieces: [
        ['system', true],
        ['first_message', false],
        ['log', false],
      ],
      summary: { by: 'model', trusted: false, text: 'summary-4714: all is as it was' },
    });

    const stream = join(bench.io, 'events.jsonl');
    writeFileSync(stream, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    expect(await runCli(['replay', stream], bench)).toMatchObject({ code: 0 });
    const again = await run(bench, '--replay', cassette);
    expect(again.result).toMatchObject({ outcome: 'unchecked', limits: { turns: { used: 8 } } });
  });

  it('becomes a list of the calls when the model cannot be asked for a summary', async () => {
    const refused: Step = { status: 400, body: '{"error": {"message": "no"}}' };
    const { bench, server } = await served([...steps.slice(0, 6), refused, done], policy);
    const { result, events } = await run(bench);
    expect(result).toMatchObject({ outcome: 'unchecked', limits: { turns: { used: 8 } } });
    expect(events.filter(({ type }) => type === 'context.compacted')).toMatchObject([{ summary_by: 'belay' }]);
    expect(server.requests[7]?.raw).toContain('echo 1');
    expect(await askedOf(bench, { events, turn: 7 })).toMatchObject({
      ...{ purpose: 'summary', isWhatWasSent: true },
      summary: { by: 'belay', trusted: false, text: expect.stringContaining('echo 1') },
    });
  });
});

describe('calls that never run', () => {
  const items = (end: Awaited<ReturnType<typeof run>>) =>
    end.events.flatMap((event) =>
      event.type === 'item.completed' && 'tool' in event.item ? [[event.item.tool, event.item.status]] : [],
    );

  it('are told as declined after a finish in the same answer', async () => {
    const answer = chat(
      [...chatCall('finish', '{"status": "done", "summary": "ok"}'), ...chatCall('shell', '{"command": "touch x"}', 1)],
      'tool_calls',
    );
    const { bench } = await served([answer], {});
    const end = await run(bench);
    expect(items(end)).toEqual([
      ['finish', 'completed'],
      ['shell', 'declined'],
    ]);
  });

  it('are told as declined in an answer that was cut, and are not run when the stream is replayed', async () => {
    const cut = chat(
      [...chatCall('shell', '{"command": "echo a > made.txt"}'), ...chatCall('shell', '{"command": "echo b', 1)],
      'length',
    );
    const { bench } = await served([cut, done], {});
    const end = await run(bench);
    expect(items(end)).toEqual([
      ['shell', 'declined'],
      ['shell', 'declined'],
      ['finish', 'completed'],
    ]);
    expect(end.events.flatMap((event) => (event.type === 'turn.completed' ? [event.finish] : []))).toEqual([
      'length',
      undefined,
    ]);

    const stream = join(bench.io, 'events.jsonl');
    writeFileSync(stream, end.stdout);
    const again = await runCli(['replay', stream, '--format', 'jsonl'], bench);
    expect(again).toMatchObject({ code: 0 });
    expect(items(again)).toEqual(items(end));
  });
});
