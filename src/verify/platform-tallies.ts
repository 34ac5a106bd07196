import { createLineTally, numberIn, type Tally } from './tally.ts';

/** Surefire's total of a module; the lines of single classes end in their time. */
export function createSurefireTally(): Tally {
  return createLineTally((line) => {
    const match =
      /^(?:\[[A-Z]{1,8}\] )?Tests run: (\d{1,9}), Failures: \d{1,9}, Errors: \d{1,9}, Skipped: (\d{1,9})$/.exec(line);
    return match === null ? null : numberIn(match, 1) - numberIn(match, 2);
  });
}

/** Gradle counts only when a test fails, `4 tests completed, 1 failed, 1 skipped`; with test logging on, each test has its line. */
export function createGradleTally(): Tally {
  let logged: number | null = null;
  const completed = createLineTally((line) => {
    const match = /^(\d{1,9}) tests? completed(?:, \d{1,9} failed)?(?:, (\d{1,9}) skipped)?$/.exec(line);
    return match === null ? null : numberIn(match, 1) - numberIn(match, 2);
  });
  return {
    read(line) {
      const end = / (PASSED|FAILED|SKIPPED)$/.exec(line);
      if (end === null || /^\s/.test(line) || !line.slice(0, end.index).includes(' > ')) return completed.read(line);
      logged = (logged ?? 0) + (end[1] === 'SKIPPED' ? 0 : 1);
      return true;
    },
    total() {
      const whole = completed.total();
      return logged === null ? whole : Math.max(logged, whole ?? 0);
    },
  };
}

/** `OK (3 tests, 3 assertions)`, or `Tests: 5, Assertions: 3, Failures: 1, Skipped: 2.` */
export function createPhpunitTally(): Tally {
  return createLineTally((line) => {
    if (line === 'No tests executed!') return 0;
    const short = /^OK \((\d{1,9}) tests?, \d{1,9} assertions?\)$/.exec(line);
    if (short !== null) return numberIn(short, 1);
    const long = /^Tests: (\d{1,9}), Assertions: \d{1,9}((?:, [A-Z][A-Za-z ]{1,40}: \d{1,9}){0,12})\.$/.exec(line);
    if (long === null) return null;
    const skipped = /, Skipped: (\d{1,9})/.exec(long[2] ?? '');
    return numberIn(long, 1) - (skipped === null ? 0 : numberIn(skipped, 1));
  });
}

/** `12 examples, 1 failure, 2 pending` */
export function createRspecTally(): Tally {
  return createLineTally((line) => {
    const match =
      /^(\d{1,9}) examples?, \d{1,9} failures?(?:, (\d{1,9}) pending)?(?:, \d{1,9} errors? occurred outside of examples)?$/.exec(
        line,
      );
    return match === null ? null : numberIn(match, 1) - numberIn(match, 2);
  });
}

/** minitest: `8 runs, 8 assertions, 0 failures, 0 errors, 1 skips` */
export function createMinitestTally(): Tally {
  return createLineTally((line) => {
    const match =
      /^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, \d{1,9} failures, \d{1,9} errors, (\d{1,9}) skips$/.exec(line);
    return match === null ? null : numberIn(match, 1) - numberIn(match, 2);
  });
}

/** `Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 12 ms - a.dll (net8.0)` */
export function createDotnetTally(): Tally {
  return createLineTally((line) => {
    const match =
      /^ *(?:Passed|Failed|Skipped)! +- Failed: +(\d{1,9}), Passed: +(\d{1,9}), Skipped: +\d{1,9}, Total: +\d{1,9}(?:,|$)/.exec(
        line,
      );
    return match === null ? null : numberIn(match, 1) + numberIn(match, 2);
  });
}

/** JUnit XML: a `testcase` that says `skipped` did not run. Lines may hold any number of elements. */
export function createJunitTally(): Tally {
  let seen = false;
  let run = 0;
  return {
    read(line) {
      if (!line.includes('<')) return false;
      if (/<testsuites?[ >]/.test(line)) seen = true;
      if (!seen) return false;
      run += line.split(/<testcase(?=[\s/>]|$)/).length - line.split(/<(?:skipped|disabled)(?=[\s/>]|$)/).length;
      return true;
    },
    total: () => (seen ? Math.max(0, run) : null),
  };
}
