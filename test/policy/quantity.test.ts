import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearestName, parseDuration, parseSize, renderDuration, renderSize } from '../../src/policy/index.ts';

test.each([
  ['90s', 90_000],
  ['20m', 1_200_000],
  ['1h30m', 5_400_000],
  ['500ms', 500],
  ['1d2h3m4s5ms', 93_784_005],
  ['0s', 0],
  ['1m30ms', 60_030],
  ['', null],
  ['5', null],
  ['5 m', null],
  ['1.5h', null],
  ['-5m', null],
  ['30m1h', null],
  ['1m1m', null],
  ['5M', null],
  ['9999999999999999d', null],
  [`${'9'.repeat(1000)}s`, null],
])('the duration %j is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ['512KiB', 524_288],
  ['4GiB', 4 * 2 ** 30],
  ['10MB', 10_000_000],
  ['1024', 1024],
  ['1024B', 1024],
  ['1.5 GiB', 1.5 * 2 ** 30],
  ['1.5', null],
  ['', null],
  ['4gb', null],
  ['-1', null],
  ['1e9', null],
  ['99999999TiB', null],
])('the size %j is %s bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test('every number is rendered as a text that reads back as itself', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (number) => {
      expect(parseDuration(renderDuration(number))).toBe(number);
      expect(parseSize(renderSize(number))).toBe(number);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['turnz', 'turns'],
  ['Turns', 'turns'],
  ['wall-time', 'wall_time'],
  ['trun', null],
  ['zzz', null],
  ['x'.repeat(10_000), null],
])('the name nearest to %s is %s', (name, nearest) => {
  expect(nearestName(name, ['turns', 'wall_time'])).toBe(nearest);
});
