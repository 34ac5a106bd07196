import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Result } from '../src/events/index.ts';

const demo = fileURLToPath(new URL('../scripts/demo.mjs', import.meta.url));
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-demo-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The demo builds first when a source is newer than the build. */
const timeout = 300_000;

describe('demo', () => {
  it('ends verified on its second attempt, for a user without any configuration', { timeout }, async () => {
    const { exitCode, stdout } = await execa(process.execPath, [demo], {
      env: { HOME: folder, TMPDIR: folder, GIT_CONFIG_NOSYSTEM: '1' },
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
  });
});
