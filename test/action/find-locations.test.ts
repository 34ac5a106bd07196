import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLocations } from '../../src/cli/github/find-locations.ts';

let root = '';
beforeAll(() => {
  root = join(realpathSync(mkdtempSync(join(tmpdir(), 'belay-locations-'))), 'ws');
  for (const dir of ['src', 'pkg', 'node_modules/x']) mkdirSync(join(root, dir), { recursive: true });
  for (const file of ['src/a.ts', 'src/main.rs', 'pkg/a_test.go', 'test_a.py', 'node_modules/x/index.js', '../out.js'])
    writeFileSync(join(root, file), '');
  symlinkSync('../../out.js', join(root, 'src/link.js'));
});
afterAll(() => rmSync(join(root, '..'), { recursive: true, force: true }));

const found = (output: string) =>
  findLocations(output, root, 10).map(({ file, line, col }) => `${file}:${line}${col === null ? '' : `:${col}`}`);

describe('places that the output of a check names', () => {
  it.each([
    ['src/a.ts(3,5): error TS2322: no', 'src/a.ts:3:5'],
    ['    at file:///tmp/belay-1/tree/src/a.ts:12:34', 'src/a.ts:12:34'],
    ['    at run (/somewhere/else/src/a.ts:1:2)', 'src/a.ts:1:2'],
    ['  --> src/main.rs:7:9', 'src/main.rs:7:9'],
    ['pkg/a_test.go:21: want 1', 'pkg/a_test.go:21'],
    ['  File "/w/test_a.py", line 4, in test', 'test_a.py:4'],
    ['test_a.py:9: AssertionError', 'test_a.py:9'],
  ])('are found in %j', (output, place) => {
    expect(found(output)).toEqual([place]);
  });

  it.each([
    'at x (/w/node_modules/x/index.js:1:1)',
    '../out.js:1:1',
    'src/link.js:1:1',
    'src/missing.ts:3:5',
    'listening on example.com:8080',
    '/etc/passwd:1',
  ])('are not files of others, outside or missing: %j', (output) => {
    expect(found(output)).toEqual([]);
  });

  it('are each named once, and no more than asked for', () => {
    const lines = Array.from({ length: 50 }, (_, at) => `src/a.ts:${at + 1}:1 again src/a.ts:${at + 1}:9`).join('\n');
    expect(findLocations(lines, root, 4).map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  });
});
