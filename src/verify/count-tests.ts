import { StringDecoder } from 'node:string_decoder';
import {
  createBunTally,
  createJestTally,
  createMochaTally,
  createNodeTestTally,
  createVitestTally,
} from './javascript-tallies.ts';
import {
  createDotnetTally,
  createGradleTally,
  createJunitTally,
  createMinitestTally,
  createPhpunitTally,
  createRspecTally,
  createSurefireTally,
} from './platform-tallies.ts';
import { createPytestTally, createUnittestTally } from './python-tallies.ts';
import { stripColours } from './strip-colours.ts';
import {
  createCargoTally,
  createCtestTally,
  createGoJsonTally,
  createGoTally,
  createNextestTally,
  createProveTally,
} from './system-tallies.ts';
import type { Count, Tally } from './tally.ts';
import { createTapTally } from './tap-tally.ts';

/** Longest piece of output that is looked at as one line: JSON events and XML are long, summaries are not. */
const LINE_MAX = 65_536;
/** What task runners put before a line: `web:test: `, `packages/a test: `, `api-1 | `. */
const PREFIX = /^[\w@./:-]{0,199}[\w@./-](?: [\w:-]{1,100})?(?::| \|) ?(?= *\S)/;
/** A word or mark that every line has which a tally may take. Most lines stop here. */
const INTERESTING = /test|pass|fail|ok|skip|cancel|run|error|example|deselected|"Action"|TAP|<|\d\.\.\d/i;

export interface TestCounter {
  write(chunk: Buffer): void;
  /** Tests that ran, over all runners and summaries in the output; null: none is known here, or a runner's count has a gap. */
  end(): number | null;
}

/**
 * Counts the tests that were RUN (passed or failed, not skipped) in the output of the common runners, however long it is: line by
 * line, in constant memory and linear time. Summaries are summed, since workspaces print one for each package.
 */
export function createTestCounter(): TestCounter {
  const tallies = createTallies();
  const decoder = new StringDecoder('utf8');
  let rest = '';

  function readLine(raw: string): void {
    const line = lastOverprint(stripColours(raw)).trimEnd();
    if (!INTERESTING.test(line)) return;
    if (tallies.some((tally) => tally.read(line))) return;
    const prefix = PREFIX.exec(line);
    if (prefix !== null) {
      const text = line.slice(prefix[0].length);
      tallies.some((tally) => tally.read(text));
    }
  }

  function readLines(text: string): void {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) for (const piece of piecesOf(line)) readLine(piece);
    if (rest.length <= LINE_MAX) return;
    const pieces = piecesOf(rest);
    rest = pieces.pop() ?? '';
    for (const piece of pieces) readLine(piece);
  }

  return {
    write: (chunk) => readLines(decoder.write(chunk)),
    end() {
      readLines(decoder.end());
      readLine(rest);
      rest = '';
      return sumUp(tallies.map((tally) => tally.total()));
    },
  };
}

/** The count of a text that is at hand whole. */
export function countTests(text: string): number | null {
  const counter = createTestCounter();
  counter.write(Buffer.from(text));
  return counter.end();
}

function sumUp(counts: readonly Count[]): number | null {
  let sum: number | null = null;
  for (const count of counts) {
    if (count === 'gap') return null;
    if (count !== null) sum = (sum ?? 0) + count;
  }
  return sum;
}

/** Cut after an element or a word where there is one, so that no XML tag is torn. */
function piecesOf(line: string): string[] {
  const pieces: string[] = [];
  let at = 0;
  while (line.length - at > LINE_MAX) {
    const window = line.slice(at, at + LINE_MAX);
    const cut = Math.max(window.lastIndexOf('>'), window.lastIndexOf(' ')) + 1 || LINE_MAX;
    pieces.push(window.slice(0, cut));
    at += cut;
  }
  pieces.push(line.slice(at));
  return pieces;
}

/** What a terminal shows of a line that was written over with carriage returns. */
function lastOverprint(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}

function createTallies(): readonly Tally[] {
  return [
    createPytestTally(),
    createNodeTestTally(),
    createVitestTally(),
    createJestTally(),
    createMochaTally(),
    createTapTally(),
    createGoTally(),
    createGoJsonTally(),
    createCargoTally(),
    createNextestTally(),
    createUnittestTally(),
    createJunitTally(),
    createSurefireTally(),
    createGradleTally(),
    createPhpunitTally(),
    createRspecTally(),
    createMinitestTally(),
    createDotnetTally(),
    createCtestTally(),
    createProveTally(),
    createBunTally(),
  ];
}
