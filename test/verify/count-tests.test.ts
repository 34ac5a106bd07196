import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTests, createTestCounter } from '../../src/verify/index.ts';
import { stripColours } from '../../src/verify/strip-colours.ts';

const OUTPUTS = path.join(import.meta.dirname, 'outputs');

/**
 * Recorded from the real runner of the version in the name (`workers`, `forks`, `parallel`, `threads`: with several at once), or written
 * after a runner's documentation.
 */
const EXPECTED: Readonly<Record<string, number | null>> = {
  'cargo-1.95.0-broken.txt': null,
  'cargo-1.95.0-mixed.txt': 4,
  'cargo-1.95.0-threads.txt': 5,
  'ctest-3.25.1-mixed.txt': 2,
  'ctest-3.25.1-none.txt': 0,
  'documented-bun.txt': 3,
  'documented-dotnet.txt': 8,
  'documented-go-json.txt': 2,
  'documented-go-plain-failed.txt': null,
  'documented-go-plain.txt': null,
  'documented-go-verbose.txt': 4,
  'documented-gradle-failed.txt': 2,
  'documented-gradle-logged.txt': 2,
  'documented-minitest.txt': 2,
  'documented-nextest.txt': 4,
  'documented-phpunit-failed.txt': 3,
  'documented-phpunit-ok.txt': 3,
  'documented-pytest-xdist.txt': 4,
  'documented-rspec.txt': 2,
  'documented-turbo-workspaces.txt': 8,
  'jest-30.5.2-colour-verbose.txt': 2,
  'jest-30.5.2-mixed.txt': 6,
  'jest-30.5.2-none.txt': 0,
  'jest-30.5.2-suite-broken.txt': 0,
  'jest-30.5.2-workers.txt': 7,
  'mocha-11.8.0-colour.txt': 2,
  'mocha-11.8.0-mixed.txt': 4,
  'mocha-11.8.0-none.txt': 0,
  'mocha-11.8.0-parallel.txt': 7,
  'mocha-11.8.0-tap.txt': 4,
  'mocha-11.8.0-xunit.txt': 4,
  'node-test-20.20.2-junit.txt': 5,
  'node-test-20.20.2-parallel.txt': 7,
  'node-test-20.20.2-spec-colour.txt': 1,
  'node-test-20.20.2-spec.txt': 6,
  'node-test-20.20.2-tap.txt': 6,
  'node-test-20.20.2-terminal.txt': 1,
  'prove-3.44-mixed.txt': 6,
  'pytest-9.0.3-collection-error.txt': null,
  'pytest-9.0.3-colour.txt': 6,
  'pytest-9.0.3-continued.txt': null,
  'pytest-9.0.3-deselected.txt': 3,
  'pytest-9.0.3-mixed.txt': 6,
  'pytest-9.0.3-none.txt': 0,
  'pytest-9.0.3-quiet.txt': 6,
  'surefire-3.2.5-mixed.txt': 3,
  'tap-perl-5.36.0-skip.txt': 2,
  'tape-5.10.2-mixed.txt': 2,
  'unittest-3.11.7-mixed.txt': 2,
  'unittest-3.11.7-none.txt': 0,
  'vitest-4.1.12-colour.txt': 2,
  'vitest-4.1.12-default.txt': 4,
  'vitest-4.1.12-forks.txt': 7,
  'vitest-4.1.12-junit.txt': 4,
  'vitest-4.1.12-none.txt': 0,
  'vitest-4.1.12-tap-flat.txt': 5,
  'vitest-4.1.12-tap.txt': 5,
  'vitest-4.1.12-verbose.txt': 4,
};
const load = (name: string) => readFileSync(path.join(OUTPUTS, name), 'utf8');

describe('count-tests', () => {
  it('reads the number of tests that ran from the output of every known runner', () => {
    const found = Object.fromEntries(readdirSync(OUTPUTS).map((name) => [name, countTests(load(name))]));
    expect(found).toEqual(EXPECTED);
  });

  it('counts the same however the output is cut into chunks', () => {
    for (const [name, count] of Object.entries(EXPECTED)) {
      const bytes = Buffer.from(load(name));
      const counter = createTestCounter();
      for (let at = 0; at < bytes.length; at += 7) counter.write(bytes.subarray(at, at + 7));
      expect([name, counter.end()]).toEqual([name, count]);
    }
  });

  it('counts the same with carriage returns at the ends of lines', () => {
    for (const [name, count] of Object.entries(EXPECTED))
      expect([name, countTests(load(name).replaceAll(/\r?\n/g, '\r\n'))]).toEqual([name, count]);
  });

  it('does not see colour codes, wherever they stand', () => {
    const names = Object.keys(EXPECTED);
    const colour = fc.constantFrom('\u001b[31m', '\u001b[0m', '\u001b[1;38;5;12m', '\u001b[2K', '\u001b]8;;x\u0007');
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.tuple(fc.nat(), colour), { maxLength: 20 }), (name, codes) => {
        const characters = Array.from(stripColours(load(name)));
        for (const [at, code] of codes) characters.splice(at % (characters.length + 1), 0, code);
        expect(countTests(characters.join(''))).toBe(EXPECTED[name]);
      }),
      { numRuns: 200 },
    );
  });

  it('answers any text with a count or with nothing', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '# tests 1e9',
        'ok 1',
        '1..0',
        '<testcase',
        '{"Action":"',
        'Tests:  1 passed, ',
        '\r',
        '\n',
        ' in 1s',
        '=== RUN   T',
        '9'.repeat(400),
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const count = countTests(pieces.join('\n'));
        expect(count === null || (Number.isSafeInteger(count) && count >= 0)).toBe(true);
      }),
    );
  });

  it('finds the summary behind any amount of noise, and elements in one endless line', () => {
    const counter = createTestCounter();
    const noise = Buffer.from(`${'a '.repeat(40)}1\n${'='.repeat(80)}\n${'.'.repeat(80)}`.repeat(300));
    for (let n = 0; n < 40; n++) counter.write(noise);
    counter.write(Buffer.from('\n12 passed in 0.1s\n'));
    counter.write(noise);
    expect(counter.end()).toBe(12);
    const xml = `<testsuite>${'<testcase name="x" time="0.1"></testcase>'.repeat(20_000)}<testcase name="y"><skipped/></testcase></testsuite>`;
    expect(countTests(xml)).toBe(20_000);
  });
});
