import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SinkError } from '../../src/errors.ts';
import {
  createEventStream,
  createRedactor,
  Event,
  type EventBody,
  type EventSink,
  MAX_LINE_BYTES,
} from '../../src/events/index.ts';
import { fixedClock, sampleResult } from './sample-events.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const message = (text: string): EventBody => ({ type: 'error', code: 'test', message: text });

function memorySink() {
  const lines: string[] = [];
  const sink: EventSink = {
    async write(line) {
      lines.push(line);
    },
    async close() {},
  };
  return { lines, sink, events: () => lines.map((line) => JSON.parse(line)) };
}

function openStream(sinks: EventSink[], secrets: { name: string; value: string }[] = []) {
  const failures: [EventSink, unknown][] = [];
  const stream = createEventStream({
    runId: 'r_1',
    redactor: createRedactor(secrets),
    sinks,
    clock: fixedClock,
    onSinkFailed: (sink, error) => failures.push([sink, error]),
  });
  return { stream, failures };
}

describe('the event stream', () => {
  it('numbers, times and chains concurrent emits in the order of the calls', async () => {
    const memory = memorySink();
    const { stream } = openStream([memory.sink]);
    await Promise.all([stream.emit(message('a')), stream.emit(message('b')), stream.emit(message('c'))]);
    const bare = memory.lines.map((line) => line.slice(0, -1));
    const common = { type: 'error', v: 1, time: '2030-01-02T03:04:05.006Z', run_id: 'r_1', code: 'test' };
    expect(memory.events()).toEqual([
      { ...common, seq: 0, prev: '0'.repeat(64), message: 'a' },
      { ...common, seq: 1, prev: sha256(bare[0] ?? ''), message: 'b' },
      { ...common, seq: 2, prev: sha256(bare[1] ?? ''), message: 'c' },
    ]);
    expect(memory.lines.every((line) => line.endsWith('}\n'))).toBe(true);
  });

  it('waits for a slow sink and hands it one line at a time', async () => {
    const gate: { open: () => void } = { open: () => undefined };
    let active = 0;
    const seen: string[] = [];
    const slow: EventSink = {
      async write(line) {
        expect(++active).toBe(1);
        await new Promise<void>((resolve) => {
          gate.open = resolve;
        });
        seen.push(JSON.parse(line).message);
        active--;
      },
      async close() {},
    };
    const { stream } = openStream([slow]);
    let settled = 0;
    const all = ['a', 'b'].map((text) => stream.emit(message(text)).then(() => settled++));
    await new Promise(setImmediate);
    expect([settled, seen]).toEqual([0, []]);
    gate.open();
    await all[0];
    expect([settled, seen]).toEqual([1, ['a']]);
    gate.open();
    await all[1];
    expect(seen).toEqual(['a', 'b']);
  });

  it('reports a failed sink once and goes on with the others', async () => {
    const memory = memorySink();
    const gone = new SinkError('stdout', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    const broken: EventSink = {
      write: () => Promise.reject(gone),
      close: () => Promise.reject(new Error('closed twice')),
    };
    const { stream, failures } = openStream([broken, memory.sink]);
    await stream.emit(message('a'));
    await stream.emit(message('b'));
    await stream.close();
    expect(failures).toEqual([[broken, gone]]);
    expect(gone.reason).toBe('closed');
    expect(memory.events().map((e) => e.message)).toEqual(['a', 'b']);
  });

  it('lets exactly one run.completed pass, as the last event', async () => {
    const memory = memorySink();
    const { stream } = openStream([memory.sink]);
    expect(stream.isCompleted()).toBe(false);
    await stream.emit({ type: 'run.completed', result: sampleResult() });
    expect(stream.isCompleted()).toBe(true);
    expect(() => stream.emit({ type: 'run.completed', result: sampleResult() })).toThrow(/after run.completed/);
    expect(() => stream.emit(message('late'))).toThrow(/after run.completed/);
    expect(Event.parse(memory.events()[0])).toEqual(memory.events()[0]);
    expect(memory.lines).toHaveLength(1);
  });

  it('survives values that JSON lacks', async () => {
    const memory = memorySink();
    const { stream } = openStream([memory.sink]);
    const ring: Record<string, unknown> = {};
    ring['self'] = ring;
    let deep: unknown = 'bottom';
    for (let i = 0; i < 20_000; i++) deep = [deep];
    const input = {
      none: undefined,
      big: 2n ** 80n,
      small: 7n,
      nan: Number.NaN,
      lone: 'a\ud800b',
      separators: '\u2028\u2029',
      list: [undefined, () => 1],
      ring,
      deep,
      ...JSON.parse('{"__proto__": {"x": 1}}'),
    };
    await stream.emit({
      type: 'item.started',
      turn: 1,
      phase: 'agent',
      item: { id: 'item_0', type: 'tool_call', status: 'in_progress', summary: 's', input },
    });
    const line = memory.lines[0] ?? '';
    expect(line).not.toMatch(/[\u2028\u2029]|\\ud800/);
    const { deep: written, ...rest } = JSON.parse(line).item.input;
    expect(rest).toEqual({
      big: String(2n ** 80n),
      small: 7,
      nan: null,
      lone: 'a\ufffdb',
      separators: '\u2028\u2029',
      list: [null, null],
      ring: { self: '[circular]' },
      ['__proto__']: { x: 1 },
    });
    expect(JSON.stringify(written)).toContain('[nested deeper than 200 levels]');
  });

  it('redacts every string and foreign key, but no word of the format', async () => {
    const value = ['value', process.pid, 'x'].join('-');
    const memory = memorySink();
    const { stream } = openStream(
      [memory.sink],
      [
        { name: 'KEY', value },
        { name: 'WORD', value: 'completed' },
      ],
    );
    await stream.emit({
      type: 'item.completed',
      turn: 1,
      phase: 'agent',
      item: {
        id: 'item_0',
        type: 'command_execution',
        status: 'completed',
        command: `echo ${value}`,
        aggregated_output: `it has completed ${Buffer.from(`xx${value}yy`).toString('base64')}`,
        exit_code: 0,
        input: { [value]: [value] },
      },
    });
    const line = memory.lines[0] ?? '';
    expect(line).not.toContain(value);
    expect(Event.parse(JSON.parse(line))).toMatchObject({
      type: 'item.completed',
      item: {
        status: 'completed',
        command: 'echo [redacted:KEY]',
        aggregated_output: expect.stringMatching(/^it has \[redacted:WORD\] .*\[redacted:KEY\]/),
        input: { '[redacted:KEY]': ['[redacted:KEY]'] },
      },
    });
  });

  it('keeps the event that sinks get equal to the line', async () => {
    const pairs: [string, Event][] = [];
    const sink: EventSink = {
      async write(line, event) {
        pairs.push([line, event]);
      },
      async close() {},
    };
    const { stream } = openStream([sink]);
    await stream.emit(message('small'));
    await stream.emit(message('x'.repeat(2_000_000)));
    for (const [line, event] of pairs) expect(JSON.parse(line)).toEqual(event);
  });
});

describe('a line over 1 MiB', () => {
  it('loses the middle of its longest string, exactly counted', async () => {
    const memory = memorySink();
    const { stream } = openStream([memory.sink]);
    const text = Array.from({ length: 400_000 }, (_, i) => `é"${i}\u{1f4a5}`).join('');
    await stream.emit(message(text));
    const line = memory.lines[0] ?? '';
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_LINE_BYTES);
    expect(Buffer.byteLength(line)).toBeGreaterThan(MAX_LINE_BYTES * 0.99);
    const event = Event.parse(JSON.parse(line));
    const kept = event.type === 'error' ? event.message : '';
    const [, head = '', count, tail = ''] = /^(.*)\[\.\.\. (\d+) characters cut \.\.\.\](.*)$/s.exec(kept) ?? [];
    expect(event.cut).toEqual([{ path: '/message', omitted: text.length - head.length - tail.length }]);
    expect(Number(count)).toBe(event.cut?.[0]?.omitted);
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
  });

  it('is not cut in the middle of a character', async () => {
    const memory = memorySink();
    const { stream } = openStream([memory.sink]);
    for (const before of ['', 'x', 'xx', 'xxx'])
      await stream.emit(message(before + '\u{1f4a5}'.repeat(300_000) + before.slice(1)));
    for (const line of memory.lines) expect(JSON.parse(line).message).not.toMatch(/\p{Surrogate}/u);
  });

  it('never costs the terminal event: files, foreign output and all', async () => {
    const files = Array.from({ length: 60_000 }, (_, i) => ({
      path: `src/${i}.ts`,
      kind: 'add' as const,
      added: 1,
      removed: 0,
      binary: false,
    }));
    const wide = (depth: number): unknown =>
      depth === 0 ? 1 : Object.fromEntries(Array.from({ length: 63 }, (_, i) => [`key ${i}`, wide(depth - 1)]));
    const memory = memorySink();
    const { stream } = openStream([memory.sink]);
    await stream.emit({
      type: 'run.completed',
      result: sampleResult({
        message: '\u0001'.repeat(3_000_000),
        changes: { ...sampleResult().changes, files },
        output: wide(3),
      }),
    });
    const line = memory.lines[0] ?? '';
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_LINE_BYTES);
    const event = Event.parse(JSON.parse(line));
    const kept = event.type === 'run.completed' ? event.result.changes.files : [];
    expect(event.cut).toContainEqual({ path: '/result/changes/files', omitted: files.length - kept.length });
    expect(event.cut?.map((cut) => cut.path)).toContain('/result/output');
    expect(kept[0]).toEqual(files[0]);
    expect(kept.at(-1)).toEqual(files.at(-1));
  });
});
