import { jsonOf } from '../events/index.ts';
import { createLineTally, numberIn, type Tally } from './tally.ts';

/** `go test -v` names each test and subtest; plain `ok pkg 0.1s` names packages only: a gap. */
export function createGoTally(): Tally {
  let verbose = false;
  let seen = false;
  let run = 0;
  return {
    read(line) {
      if (/^=== RUN +\S/.test(line) || line === 'testing: warning: no tests to run') {
        verbose = true;
        return true;
      }
      if (/^(?:ok {2}|FAIL)\t\S+\t/.test(line)) {
        seen = true;
        return true;
      }
      const match = /^ *--- (PASS|FAIL|SKIP): \S.{0,1000} \(\d{1,9}\.\d{1,3}s\)$/.exec(line);
      if (match === null) return false;
      if (match[1] !== 'SKIP') run++;
      return true;
    },
    total: () => (verbose ? run : seen ? 'gap' : null),
  };
}

/** `go test -json`: one event a line. */
export function createGoJsonTally(): Tally {
  return createLineTally((line) => {
    if (!line.startsWith('{') || !line.includes('"Action":"')) return null;
    const event = parseEvent(line);
    if (event === null) return null;
    const hasTest = typeof event.Test === 'string';
    return hasTest && (event.Action === 'pass' || event.Action === 'fail') ? 1 : 0;
  });
}

function parseEvent(line: string): { Action?: unknown; Test?: unknown } | null {
  const value = jsonOf(line);
  return typeof value === 'object' && value !== null ? { ...value } : null;
}

/** cargo prints one `test result:` line for each target. */
export function createCargoTally(): Tally {
  return createLineTally((line) => {
    const match =
      /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; \d{1,9} ignored; (\d{1,9}) measured;/.exec(
        line,
      );
    return match === null ? null : numberIn(match, 1) + numberIn(match, 2) + numberIn(match, 3);
  });
}

/** cargo-nextest: `     Summary [   0.004s] 3 tests run: 3 passed, 1 skipped` */
export function createNextestTally(): Tally {
  return createLineTally((line) => {
    const match = /^ *Summary \[ *[\d.]{1,20}s\] +(\d{1,9})(?:\/\d{1,9})? tests? run: /.exec(line);
    return match === null ? null : numberIn(match, 1);
  });
}

/** ctest: `67% tests passed, 1 tests failed out of 3` leaves disabled tests out, but not those that skip themselves. */
export function createCtestTally(): Tally {
  return createLineTally(
    (line) => {
      if (line === 'No tests were found!!!') return 0;
      const match = /^\d{1,3}% tests passed, \d{1,9} tests? failed out of (\d{1,9})$/.exec(line);
      return match === null ? null : numberIn(match, 1);
    },
    (line) => (/^\t *\d{1,9} - \S.{0,500} \(Skipped\)$/.test(line) ? -1 : null),
  );
}

/** prove: `Files=2, Tests=6,  1 wallclock secs …` */
export function createProveTally(): Tally {
  return createLineTally((line) => {
    const match = /^Files=\d{1,9}, Tests=(\d{1,9}), /.exec(line);
    return match === null ? null : numberIn(match, 1);
  });
}
