import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration, parseSize, renderDuration, renderSize } from '../../src/policy/quantity.ts';

describe('durations', () => {
  test.each([
    ['90s', 90_000],
    ['20m', 1_200_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1m500ms', 60_500],
    ['1d', 86_400_000],
    ['2d3h4m5s6ms', 183_845_006],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(['', '90', '5 parsecs', '30m1h', '1h1h', '-5m', '1.5h', '5M', ' 5m', '5m ', 'm', '99999999999999999999s', `${'1'.repeat(60)}s`])(
    '%j is none',
    (text) => expect(parseDuration(text)).toBeNull(),
  );

  test('what is rendered reads back as the same number', () => {
    fc.assert(fc.property(fc.nat({ max: 10 ** 12 }), (ms) => expect(parseDuration(renderDuration(ms))).toBe(ms)));
  });
});

describe('sizes', () => {
  test.each([
    ['512KiB', 524_288],
    ['4GiB', 4_294_967_296],
    ['10MB', 10_000_000],
    ['1.5GiB', 1_610_612_736],
    ['1024', 1024],
    ['7B', 7],
    ['2 TiB', 2_199_023_255_552],
  ])('%s is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  test.each(['', 'lots', '-1', '1.5', '1.5B', '4gib', '4 G', '1e3', '0x10', '99999999999TiB', 'KiB'])('%j is none', (text) =>
    expect(parseSize(text)).toBeNull(),
  );

  test('what is rendered reads back as the same number', () => {
    fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (bytes) => expect(parseSize(renderSize(bytes))).toBe(bytes)));
  });
});
