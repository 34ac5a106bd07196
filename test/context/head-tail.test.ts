import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeadTailBuffer } from '../../src/context/index.ts';

const GAP = '<gap>';

describe('a head-tail buffer', () => {
  it('keeps a short output whole, however it is cut into chunks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.array(fc.nat(50)), (text, cuts) => {
        const bytes = Buffer.from(text);
        const buffer = createHeadTailBuffer(bytes.length);
        let at = 0;
        for (const cut of cuts) {
          buffer.write(bytes.subarray(at, at + cut));
          at += cut;
        }
        buffer.write(bytes.subarray(at));
        expect(buffer.read(() => GAP)).toEqual({ text: bytes.toString('utf8'), omission: null });
      }),
    );
  });

  it('says exactly what is missing of a long one, and cuts no character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 60, maxLength: 400 }),
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 60 }),
        (text, max, size) => {
          fc.pre(!text.includes('�'));
          const bytes = Buffer.from(text);
          const buffer = createHeadTailBuffer(max);
          for (let at = 0; at < bytes.length; at += size) buffer.write(bytes.subarray(at, at + size));
          const read = buffer.read(() => GAP);
          if (read.omission === null) throw new Error('nothing was left out');
          const { total_bytes, omitted_bytes, omitted_from } = read.omission;
          const head = bytes.subarray(0, omitted_from).toString('utf8');
          const tail = bytes.subarray(omitted_from + omitted_bytes).toString('utf8');
          expect(total_bytes).toBe(bytes.length);
          expect(read.text).toBe(`${head}${GAP}${tail}`);
          expect(read.text.includes('�')).toBe(false);
          expect(total_bytes - omitted_bytes).toBeLessThanOrEqual(max);
        },
      ),
    );
  });

  it('holds a long stream in bounded memory', () => {
    const buffer = createHeadTailBuffer(1000);
    const chunk = Buffer.alloc(65_536, 'x');
    for (let i = 0; i < 20_000; i++) buffer.write(chunk);
    buffer.write(Buffer.from('end'));
    const { text, omission } = buffer.read(() => GAP);
    expect(omission?.total_bytes).toBe(20_000 * 65_536 + 3);
    expect(text).toBe(`${'x'.repeat(500)}${GAP}${'x'.repeat(497)}end`);
  });
});
