import { createLineTally, numberIn, parseCounts, sumOf, type Tally } from './tally.ts';

const RAN = ['passed', 'failed', 'xfailed', 'xpassed'];
const KNOWN = new Set([
  ...RAN,
  'skipped',
  'deselected',
  'warning',
  'warnings',
  'error',
  'errors',
  'rerun',
  'subtests passed',
  'subtests failed',
  'subtests skipped',
]);

/**
 * pytest's last line, with or without its frame of `=`: `1 failed, 4 passed, 1 skipped in 1.52s`; with parallel workers it is the
 * same one. A file that could not be collected hides its tests: that is a gap.
 */
export function createPytestTally(): Tally {
  let isWhole = true;
  const counted = createLineTally((line) => {
    const text = line.replace(/^=+ /, '').replace(/ =+$/, '');
    const match = /^([\d a-z,]{1,300}) in \d{1,9}(?:\.\d{1,9})?s(?: \([\d:, a-z]{1,40}\))?$/.exec(text);
    if (match === null) return null;
    if (match[1] === 'no tests ran') return 0;
    const counts = parseCounts(match[1] ?? '', ', ');
    if (counts === null || ![...counts.keys()].every((word) => KNOWN.has(word))) return null;
    return sumOf(counts, RAN);
  });
  return {
    read(line) {
      if (/^_+ ERROR collecting /.test(line) || /^!+ Interrupted: \d{1,9} errors? during collection !+$/.test(line)) {
        isWhole = false;
        return true;
      }
      return counted.read(line);
    },
    total: () => (isWhole ? counted.total() : 'gap'),
  };
}

/** unittest (and Django's runner): `Ran 3 tests in 0.001s`, then `FAILED (failures=1, skipped=1)`. */
export function createUnittestTally(): Tally {
  return createLineTally(
    (line) => {
      const match = /^Ran (\d{1,9}) tests? in \d{1,9}\.\d{1,9}s$/.exec(line);
      return match === null ? null : numberIn(match, 1);
    },
    (line) => {
      const match = /^(?:OK|FAILED|NO TESTS RAN) \((?:[a-z ]{1,30}=\d{1,9}, )*skipped=(\d{1,9})[^)]{0,200}\)$/.exec(
        line,
      );
      return match === null ? null : -numberIn(match, 1);
    },
  );
}
