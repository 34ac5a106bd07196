import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonLine, readEvents, readJsonLines } from '../../src/events/index.ts';
import { WHOLE_RUN, write } from './sample-events.ts';
import { tempFolder } from './temp-folder.ts';

async function collect<T>(lines: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

const read = (source: string | Buffer, options?: { maxLineBytes?: number }) =>
  collect(readJsonLines([Buffer.from(source)], options));
const brief = (lines: JsonLine[]) =>
  lines.map((line) => [line.lineNumber, line.kind === 'line' ? line.value : line.reason]);

describe('readJsonLines', () => {
  it('tells every line, good or faulty, with its number', async () => {
    const text = Buffer.concat([
      Buffer.from('{"a":1}\n\nnull\n[1]\n"x"\n{"a":1}\r\n{"a":}\n{"b":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n\ufeff{}\n{"long":"0123456789012345678901234567890123456789"}\n{"c":2}\n{"torn":'),
    ]);
    expect(brief(await read(text, { maxLineBytes: 40 }))).toEqual([
      [1, { a: 1 }],
      [2, 'empty'],
      [3, 'not_object'],
      [4, 'not_object'],
      [5, 'not_object'],
      [6, 'carriage_return'],
      [7, 'not_json'],
      [8, 'bad_utf8'],
      [9, 'not_json'],
      [10, 'too_long'],
      [11, { c: 2 }],
      [12, 'torn'],
    ]);
  });

  it('accepts a line of exactly the longest length', async () => {
    expect(brief(await read('{"a":12}\n{"a":123}\n', { maxLineBytes: 8 }))).toEqual([
      [1, { a: 12 }],
      [2, 'too_long'],
    ]);
  });

  it('does not care where the chunks end', async () => {
    const bytes = Buffer.from('{"é":"💥"}\n{"b":\n{"c":3}\n');
    const whole = await read(bytes);
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(await collect(readJsonLines(single))).toEqual(whole);
  });

  it('keeps nothing of an endless line', async () => {
    const chunk = Buffer.alloc(1_000_000, 'x');
    function* endless() {
      for (let i = 0; i < 300; i++) yield chunk;
      yield Buffer.from('\n{"a":1}\n');
    }
    const before = process.memoryUsage().arrayBuffers;
    expect(brief(await collect(readJsonLines(endless())))).toEqual([
      [1, 'too_long'],
      [2, { a: 1 }],
    ]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });

  it('tells that a file cannot be read', async () => {
    const missing = await collect(readJsonLines(join(tempFolder(), 'none.jsonl')));
    expect(missing).toEqual([
      { kind: 'fault', lineNumber: 1, reason: 'unreadable', message: expect.stringContaining('ENOENT') },
    ]);
  });

  it('never throws, whatever the bytes are', async () => {
    const junk = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(`${text}\n`)),
      fc
        .constantFrom('null\n', '\n', '\r\n', '{"a":', '}', '"', '\\u', '{"__proto__":1}\n', '\ufeff', '1e999\n')
        .map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(junk, { maxLength: 8 }), async (chunks) => {
        const lines = await collect(readEvents(chunks));
        const text = Buffer.concat(chunks);
        const newlines = text.filter((byte) => byte === 0x0a).length;
        const torn = text.length > 0 && text.at(-1) !== 0x0a ? 1 : 0;
        expect(lines.map((line) => line.lineNumber)).toEqual(Array.from({ length: newlines + torn }, (_, i) => i + 1));
      }),
      { numRuns: 10_000 },
    );
  });

  it('takes what is nested beyond reason for data', async () => {
    const [line] = await read(`{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}\n`);
    expect(['line', 'fault']).toContain(line?.kind);
    const [event] = await collect(readEvents([Buffer.from(`{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}\n`)]));
    expect(event?.kind).toBe('fault');
  });
});

describe('readEvents', () => {
  it('gives back the events that were written', async () => {
    const { lines, events } = await write(WHOLE_RUN);
    const path = join(tempFolder(), 'events.jsonl');
    writeFileSync(path, lines.join(''));
    expect((await collect(readEvents(path))).map((line) => line.kind === 'event' && line.event)).toEqual(events);
  });

  it('says where a line breaks the schema, and of which version it is', async () => {
    const { lines } = await write(WHOLE_RUN);
    const [first = ''] = lines;
    const other = [first.replace('"dirty":false', '"dirty":"no"'), first.replace('"v":1', '"v":2')];
    expect(
      (await collect(readEvents([Buffer.from(other.join(''))]))).map((line) => line.kind === 'fault' && line.message),
    ).toEqual([
      expect.stringMatching(/^the event does not satisfy the schema at workspace.dirty: /),
      'the event is of version 2; this belay reads version 1',
    ]);
  });
});
