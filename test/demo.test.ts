import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Result } from '../src/events/index.ts';
import { controlsIn } from './scenario.ts';

const demo = fileURLToPath(new URL('../scripts/demo.mjs', import.meta.url));
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-demo-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The demo builds first when a source is newer than the build. */
const timeout = 300_000;

const STORY =
  /A coding agent has to mend a bug|goal: splitBill loses cents|\[\w+\] [✓✗] tests|\d+ cents, \d people: [\d +]+\d|\$ npm test exit \d|± \S+|VERIFIED \(exit 0\) · evidence: fixed|✓ tests {2}red → green|M \S+ {2}\+3 -2|What you saw: the agent said 2 times that it was done/g;

/** What a stranger has to see of it, in this order: each line once, the agent's own run of the tests shows what the check before it did. */
const storyOf = (text: string): string[] =>
  [...text.matchAll(STORY)]
    .map(([part]) => part)
    .filter((part, index, all) => !all.slice(0, index).includes(part) || part.startsWith('±'));

describe('demo', () => {
  it('ends verified on its second attempt, for a user without any configuration', { timeout }, async () => {
    const { exitCode, stdout, stderr } = await execa(process.execPath, [demo], {
      env: { HOME: folder, TMPDIR: folder, GIT_CONFIG_NOSYSTEM: '1', CI: 'true' },
      reject: false,
    });
    const verdict = /the verdict +(.*)/.exec(stdout)?.[1] ?? '';
    const result = Result.parse(JSON.parse(await readFile(verdict, 'utf8')));
    const { outcome, evidence, changes, limits } = result;
    expect({
      exitCode,
      outcome,
      evidence,
      files: changes.files.map((file) => file.path),
      attempts: limits.attempts,
    }).toEqual({
      exitCode: 0,
      outcome: 'verified',
      evidence: 'fixed',
      files: ['src/split-bill.js'],
      attempts: { used: 2, max: 3 },
    });
    expect(storyOf(stdout)).toEqual([
      'A coding agent has to mend a bug',
      'goal: splitBill loses cents',
      '[baseline] ✗ tests',
      '1000 cents, 3 people: 333 + 333 + 333',
      '$ npm test exit 1',
      '± src/split-bill.js',
      '[verify] ✗ tests',
      '1003 cents, 4 people: 253 + 250 + 250 + 250',
      '± src/split-bill.js',
      '[verify] ✓ tests',
      '[clean_room] ✓ tests',
      'VERIFIED (exit 0) · evidence: fixed',
      '✓ tests  red → green',
      'M src/split-bill.js  +3 -2',
      'What you saw: the agent said 2 times that it was done',
    ]);
    // Nobody looks at it: no line is drawn over, coloured or repeated.
    expect(controlsIn(stdout + stderr)).toEqual([]);
    expect(stderr.split('\n').filter((line) => !line.startsWith('set-up: ') && line !== '')).toEqual([]);
  });
});
