import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Outcome } from '../src/events/index.ts';
import { Expected, layOutScenario, runCli, treeOf } from './scenario.ts';

const DIR = join(import.meta.dirname, 'scenarios');
const names = readdirSync(DIR)
  .filter((name) => existsSync(join(DIR, name, 'result.json')))
  .sort();
const expectedOf = (name: string) => Expected.parse(JSON.parse(readFileSync(join(DIR, name, 'result.json'), 'utf8')));

describe('scenarios', () => {
  it.each(names)('%s ends in its outcome and its tree', async (name) => {
    const dir = join(DIR, name);
    const expected = expectedOf(name);
    const bench = layOutScenario(dir);
    try {
      const before = treeOf(bench.ws);
      const args = [
        'run',
        '--goal-file',
        join(dir, 'goal.md'),
        '--replay',
        join(dir, 'model.jsonl'),
        ...(expected.args ?? []),
      ];
      const end = await runCli(args, bench, { env: expected.env ?? {} });
      expect({
        code: end.code,
        outcome: end.result?.outcome,
        stderr: end.code === expected.exit_code ? '' : end.stderr,
      }).toEqual({
        code: expected.exit_code,
        outcome: expected.outcome,
        stderr: '',
      });
      expect(end.result).toMatchObject(expected.result ?? {});
      const { 'belay.yml': _policy, ...after } = treeOf(bench.ws);
      const { 'belay.yml': _before, ...untouched } = before;
      expect(after).toEqual(existsSync(join(dir, 'expected')) ? treeOf(join(dir, 'expected')) : untouched);
    } finally {
      bench.remove();
    }
  });

  it('cover every outcome that a cassette can reach', () => {
    const elsewhere = ['internal_error', 'busy', 'interrupted'];
    const covered = new Set(names.map((name) => expectedOf(name).outcome));
    expect(Outcome.options.filter((outcome) => !covered.has(outcome) && !elsewhere.includes(outcome))).toEqual([]);
  });
});
