import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from '../../src/events/index.ts';

/** Every spelling that the redactor promises to find. */
const SPELLINGS: Record<string, (value: string) => string> = {
  plain: (v) => v,
  'base64 at 0': (v) => Buffer.from(v).toString('base64'),
  'base64 at 1': (v) => Buffer.from(`a${v}`).toString('base64').slice(2),
  'base64 at 2': (v) => Buffer.from(`ab${v}`).toString('base64').slice(3),
  'base64 inside a text': (v) => Buffer.from(`user:${v}\n and more`).toString('base64'),
  base64url: (v) => Buffer.from(v).toString('base64url'),
  'base64url inside a text': (v) => Buffer.from(`{"k":"${v}"}`).toString('base64url'),
  'base64 in lines': (v) =>
    Buffer.from(v)
      .toString('base64')
      .replace(/.{76}(?=.)/g, '$&\n'),
  'URL component': (v) => encodeURIComponent(v),
  'URL component, lower hex': (v) => encodeURIComponent(v).replace(/%../g, (e) => e.toLowerCase()),
  form: (v) => new URLSearchParams([['', v]]).toString().slice(1),
  'form, lower hex': (v) =>
    new URLSearchParams([['', v]])
      .toString()
      .slice(1)
      .replace(/%../g, (e) => e.toLowerCase()),
  JSON: (v) => JSON.stringify(v).slice(1, -1),
  'JSON in ASCII': (v) =>
    JSON.stringify(v)
      .slice(1, -1)
      .replace(/[^\0-\x7e]/g, (u) => `\\u${u.charCodeAt(0).toString(16).padStart(4, '0')}`),
  hex: (v) => Buffer.from(v).toString('hex'),
  'upper hex': (v) => Buffer.from(v).toString('hex').toUpperCase(),
};

/** What the value looks like at its most hostile: every class of character that some spelling treats in its own way. */
const VALUE = ['p/q+', process.pid, ' "é\\%', "~!'()*💥 end"].join('');

function stream(redactor: Redactor, bytes: Uint8Array, cuts: readonly number[]): string {
  const redacting = redactor.redactStream();
  const borders = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const out = borders.slice(1).map((end, i) => redacting.push(bytes.subarray(borders[i], end)));
  return Buffer.concat([...out, redacting.end()]).toString();
}

describe('redact', () => {
  for (const [name, spell] of Object.entries(SPELLINGS))
    it(`finds a value spelt as ${name}`, () => {
      const { redact } = createRedactor([{ name: 'KEY', value: VALUE }]);
      const spelt = spell(VALUE);
      const text = redact(`before ${spelt} after`);
      expect(text).not.toContain(spelt);
      expect(text).toContain('[redacted:KEY]');
      expect(text).toMatch(/^before .* after$/s);
      expect(redact(text)).toBe(text);
    });

  it('leaves no padding behind', () => {
    const value = ['abcdef', process.pid].join('-').padEnd(20, 'x');
    const { redact } = createRedactor([{ name: 'KEY', value }]);
    expect(redact(`<${Buffer.from(value).toString('base64')}>`)).toBe('<[redacted:KEY]>');
  });

  it('finds a value in base64 that was wrapped at 76 characters', () => {
    const value = Array.from({ length: 30 }, (_, i) => `${process.pid}.${i}`).join('');
    const wrapped = Buffer.from(value)
      .toString('base64')
      .replace(/.{76}(?=.)/g, '$&\n');
    const { redact } = createRedactor([{ name: 'KEY', value }]);
    expect(redact(`<${wrapped}>`)).toBe('<[redacted:KEY]>');
    expect(redact(wrapped.split('\n').slice(0, 2).join('|'))).toBe('[redacted:KEY]|[redacted:KEY]');
  });

  it('takes every long line of a multi-line value as a secret, but not the borders of a key file', () => {
    const line = ['line', process.pid, 'of a key file'].join(' ');
    const value = `-----BEGIN KEY-----\n${line}\nshort\n-----END KEY-----\n`;
    const { redact } = createRedactor([{ name: 'KEY', value }]);
    expect(redact(`-----BEGIN KEY-----|${line}|short`)).toBe('-----BEGIN KEY-----|[redacted:KEY]|short');
    expect(redact(`<${value.trim()}>`)).toBe('<[redacted:KEY]>');
  });

  it('makes one replacement of overlapping values and names it by the longest', () => {
    const { redact } = createRedactor([
      { name: 'A', value: 'abcdefgh' },
      { name: 'B', value: 'ghijklmnop' },
      { name: 'INNER', value: 'ijklmn' },
    ]);
    expect(redact('<abcdefghijklmnop> <ijklmn><abcdefghabcdefgh>')).toBe(
      '<[redacted:B]> <[redacted:INNER]><[redacted:A][redacted:A]>',
    );
  });

  it('warns of values that it cannot replace and never quotes them', () => {
    const { warnings, redact } = createRedactor([
      { name: 'SHORT', value: 'ab12\n' },
      { name: 'EMPTY', value: '' },
      { name: 'MARKER', value: 'redacted' },
    ]);
    expect(warnings).toEqual([
      'SHORT is not redacted: a value of fewer than 6 characters also occurs in innocent text',
      'MARKER is not redacted: its value is part of the text that would replace it',
    ]);
    expect(redact('ab12 redacted')).toBe('ab12 redacted');
  });
});

describe('redactStream', () => {
  const noise = fc.constantFrom('', 'a', 'ab', 'xyz', '\n', 'é', 'aXbX'.repeat(3));
  const value = fc.oneof(
    fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme' }),
    fc.stringMatching(/^[ab]{6,12}$/),
  );

  it('gives the same as redacting the whole, wherever the text is split', () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(noise, fc.nat(), fc.constantFrom(...Object.values(SPELLINGS))), { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (values, pieces, cuts) => {
          const redactor = createRedactor(values.map((text, i) => ({ name: `S${i}`, value: text })));
          const text = pieces
            .map(([before, pick, spell]) => before + spell(values[pick % values.length] ?? ''))
            .join('');
          const bytes = Buffer.from(text);
          const whole = redactor.redact(text);
          expect(
            stream(
              redactor,
              bytes,
              cuts.map((cut) => cut % (bytes.length + 1)),
            ),
          ).toBe(Buffer.from(whole).toString());
          expect(stream(redactor, bytes, [...bytes.keys()])).toBe(Buffer.from(whole).toString());
        },
      ),
      { numRuns: 300 },
    );
  });

  it('lets no value survive in any spelling', () => {
    fc.assert(
      fc.property(
        fc
          .string({ minLength: 6, maxLength: 60, unit: 'grapheme' })
          .filter((text) => text.trim().length >= 6 && !/redacted|S0/.test(text)),
        noise,
        noise,
        (text, before, after) => {
          const { redact } = createRedactor([{ name: 'S0', value: text }]);
          for (const spell of Object.values(SPELLINGS)) {
            const spelt = spell(text);
            expect(redact(`${before}${spelt}${after}`).includes(spelt)).toBe(false);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('holds back nothing but a possible beginning', () => {
    const redacting = createRedactor([{ name: 'KEY', value: 'abcdefg!' }]).redactStream();
    const push = (text: string) => redacting.push(Buffer.from(text)).toString();
    expect([push('prompt> '), push('abcd'), push('X'), push('abcdef'), push('g!'), push('abc')]).toEqual([
      'prompt> ',
      '',
      'abcdX',
      '',
      '[redacted:KEY]',
      '',
    ]);
    expect(redacting.end().toString()).toBe('abc');
  });

  it('keeps nothing of a run of finds that does not end', () => {
    const redacting = createRedactor([{ name: 'KEY', value: 'aaaaaa' }]).redactStream();
    const chunk = Buffer.alloc(65_536, 'a');
    for (let i = 0; i < 40; i++) expect(redacting.push(chunk).length).toBe(0);
    expect(redacting.end().toString()).toBe('[redacted:KEY]');
  });
});
