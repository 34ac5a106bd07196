import { numberIn, type Tally } from './tally.ts';

const POINT = /^ *(?:not )?ok(?: (\d{1,9}))?(?: |$)/;

/**
 * The Test Anything Protocol. Points are counted at every depth but for those that only close a block (`ok 1 - file {`); where a
 * producer says `# tests 12` (node:test, tape, mocha), that is its count, less what it says was skipped.
 */
export function createTapTally(): Tally {
  let seen = false;
  let run = 0;
  /** Points since the last stream began or said its own count. */
  let points = 0;
  let said = false;

  function readSummary(line: string): boolean {
    const match = /^# (tests|skipped|cancelled) +(\d{1,9})$/.exec(line);
    if (match === null) return false;
    if (match[1] === 'tests') {
      run += numberIn(match, 2);
      points = 0;
      said = true;
    } else if (said) run -= numberIn(match, 2);
    return true;
  }

  return {
    read(line) {
      if (/^TAP version \d\d$/.test(line)) {
        run += points;
        points = 0;
        said = false;
        seen = true;
        return true;
      }
      if (/^ *1\.\.\d{1,9}(?: *#.*)?$/.test(line)) {
        seen = true;
        return true;
      }
      if (readSummary(line)) {
        seen = true;
        return true;
      }
      const match = POINT.exec(line);
      if (match === null || (match[1] === undefined && !/^ *(?:not )?ok - /.test(line))) return false;
      if (!line.endsWith('{') && !/ # SKIP\b/i.test(line)) points++;
      return true;
    },
    total: () => (seen ? Math.max(0, run + points) : null),
  };
}
