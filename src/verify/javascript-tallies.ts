import { createLineTally, numberIn, parseCounts, sumOf, type Tally } from './tally.ts';

/** `ℹ tests 12` of node:test's spec reporter; its `# tests 12` is TAP. Skipped and cancelled tests did not run. */
export function createNodeTestTally(): Tally {
  return createLineTally(
    (line) => {
      const match = /^ℹ tests (\d{1,9})$/.exec(line);
      return match === null ? null : numberIn(match, 1);
    },
    (line) => {
      const match = /^ℹ (?:skipped|cancelled) (\d{1,9})$/.exec(line);
      return match === null ? null : -numberIn(match, 1);
    },
  );
}

/** `      Tests  1 failed | 3 passed | 1 skipped (5)` */
export function createVitestTally(): Tally {
  return createLineTally((line) => {
    if (/^ *No test files found, exiting with code \d$/.test(line) || /^ +Tests +no tests$/.test(line)) return 0;
    const match = /^ +Tests +(\d[\d a-z|]{1,200}?) +\(\d{1,9}\)$/.exec(line);
    const counts = match === null ? null : parseCounts(match[1] ?? '', '|');
    return counts === null ? null : sumOf(counts, ['passed', 'failed']);
  });
}

/** `Tests:       1 failed, 1 skipped, 1 todo, 5 passed, 8 total` */
export function createJestTally(): Tally {
  return createLineTally((line) => {
    if (/^No tests found, exiting with code \d$/.test(line)) return 0;
    const match = /^Tests: +(\d[\d a-z,]{1,200})$/.exec(line);
    const counts = match === null ? null : parseCounts(match[1] ?? '', ',');
    return counts?.has('total') ? sumOf(counts, ['passed', 'failed']) : null;
  });
}

/** `  3 passing (16ms)`, then `  2 pending` and `  1 failing` */
export function createMochaTally(): Tally {
  return createLineTally(
    (line) => {
      const match = /^ +(\d{1,9}) passing(?: \([\d.]{1,12} ?(?:ms|s|m|h)\))?$/.exec(line);
      return match === null ? null : numberIn(match, 1);
    },
    (line) => {
      const match = /^ +(\d{1,9}) failing$/.exec(line);
      return match === null ? null : numberIn(match, 1);
    },
  );
}

/** bun: `Ran 7 tests across 2 files. [12.00ms]`, which leaves skipped and todo tests out. */
export function createBunTally(): Tally {
  return createLineTally((line) => {
    const match = /^Ran (\d{1,9}) tests? across \d{1,9} files?\./.exec(line);
    return match === null ? null : numberIn(match, 1);
  });
}
