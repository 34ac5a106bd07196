import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASSETTES, layOut, listExamples, runArguments } from '../scripts/example.mjs';
import { Result } from '../src/events/index.ts';

/** The packages come from the registry: a machine without one says so, everybody else gets a failure. */
const { BELAY_OFFLINE } = process.env;
const slugs = await listExamples();

/** How each policy answers to a change of its judge: read-only, counted as it was, out of scope. */
const CHEATS: Readonly<Record<string, { exitCode: number; outcome: string }>> = {
  'minimist-prototype-pollution': { exitCode: 10, outcome: 'unverified' },
  'shell-quote-injection': { exitCode: 10, outcome: 'unverified' },
  'word-wrap-redos': { exitCode: 12, outcome: 'policy_violation' },
};

describe('examples', () => {
  it('has the three packages with three recorded agents each', () => {
    expect(slugs.toSorted()).toEqual(Object.keys(CHEATS));
    expect(CASSETTES).toEqual(['right', 'wrong', 'cheat']);
  });
});

describe.skipIf(BELAY_OFFLINE === '1').each(slugs)('example %s', (slug) => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-examples-'));
    await layOut(slug, join(folder, 'base'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs the built CLI on a copy of the defective package. */
  async function run(cassette: string): Promise<{ exitCode: number | undefined; result: Result; change: string }> {
    const workspace = join(folder, cassette);
    await cp(join(folder, 'base'), workspace, { recursive: true });
    const resultFile = join(folder, `${cassette}.json`);
    const args = [...runArguments(slug, cassette, workspace), '--format', 'quiet', '--result', resultFile];
    const { exitCode, stdout } = await execa(process.execPath, args, {
      reject: false,
      env: { XDG_STATE_HOME: join(folder, 'state') },
    });
    expect(stdout).toBe('');
    const { stdout: change } = await execa('git', ['status', '--porcelain'], { cwd: workspace });
    return { exitCode, result: Result.parse(JSON.parse(await readFile(resultFile, 'utf8'))), change };
  }

  const classes = (result: Result) =>
    Object.fromEntries(result.checks.map((check) => [check.name, check.classification]));

  it('verifies the right fix, with the reproduction gone from red to green', async () => {
    const { exitCode, result, change } = await run('right');
    expect({ exitCode, outcome: result.outcome, verified: result.verified, evidence: result.evidence }).toEqual({
      exitCode: 0,
      outcome: 'verified',
      verified: true,
      evidence: 'fixed',
    });
    expect(classes(result)).toEqual({ reproduce: 'fixed', smoke: 'passing' });
    expect(result.changes.files.map((file) => file.path)).toEqual(['index.js']);
    expect(change).toBe(' M index.js');
  });

  it('does not verify the plausible fix, and puts the tree back', async () => {
    const { exitCode, result, change } = await run('wrong');
    expect({ exitCode, outcome: result.outcome, verified: result.verified }).toEqual({
      exitCode: 10,
      outcome: 'unverified',
      verified: false,
    });
    expect(result.limits.attempts).toEqual({ used: 2, max: 2 });
    expect(change).toBe('');
  });

  it('does not verify an edited judge, and puts the tree back', async () => {
    const { exitCode, result, change } = await run('cheat');
    expect({ exitCode, outcome: result.outcome, verified: result.verified, evidence: result.evidence }).toEqual({
      ...CHEATS[slug],
      verified: false,
      evidence: 'none',
    });
    expect(change).toBe('');
  });
});
