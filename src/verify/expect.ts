import type { Check } from '../policy/index.ts';
import { stripColours } from './strip-colours.ts';

export interface Observed {
  /** The output, head and tail of at most 1 MiB. */
  matched: string;
  tests: number | null;
  /** Tests of the baseline: what `tests: not_fewer` holds against; null: not known, then any count will do. */
  testsBefore: number | null;
}

/**
 * Why the output of a check that exited with 0 is not what `expect` says, as half a sentence; null when it is.
 * `matches` is RE2, searched anywhere in the output without its colour codes; `^` and `$` are the ends of a line.
 */
export async function judgeExpectation(expect: Check['expect'], observed: Observed): Promise<string | null> {
  if (expect.matches !== null) {
    const { RE2JS } = await import('re2js');
    const pattern = RE2JS.compile(expect.matches, RE2JS.MULTILINE);
    if (!pattern.matcher(stripColours(observed.matched)).find())
      return `exited with 0, but its output does not match ${expect.matches}`;
  }
  if (!expect.testsNotFewer) return null;
  if (observed.tests === null) return 'exited with 0, but its output does not tell how many tests ran';
  if (observed.testsBefore !== null && observed.tests < observed.testsBefore)
    return `ran ${observed.tests} tests, fewer than the ${observed.testsBefore} of the baseline`;
  return null;
}
