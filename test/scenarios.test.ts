import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Outcome } from '../src/events/index.ts';
import { runScenario } from './run-scenario.ts';
import { Expected, layOutScenario, treeOf } from './scenario.ts';

const DIR = join(import.meta.dirname, 'scenarios');
const names = readdirSync(DIR)
  .filter((name) => existsSync(join(DIR, name, 'result.json')))
  .sort();
const expectedOf = (name: string) => Expected.parse(JSON.parse(readFileSync(join(DIR, name, 'result.json'), 'utf8')));

describe('scenarios', () => {
  const scenarios = names.map((name) => ({ name, expected: expectedOf(name), outcome: expectedOf(name).outcome }));

  it.each(scenarios)('$name ends $outcome, and with its tree', async ({ name, expected }) => {
    const dir = join(DIR, name);
    const bench = layOutScenario(dir);
    try {
      const before = treeOf(bench.ws);
      const end = await runScenario(dir, expected, bench);
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
      expect(end.events.map(({ type }) => type).filter((type) => expected.never?.includes(type))).toEqual([]);
      const { 'belay.yml': _policy, ...after } = treeOf(bench.ws);
      const { 'belay.yml': _before, ...untouched } = before;
      expect(after).toEqual(existsSync(join(dir, 'expected')) ? treeOf(join(dir, 'expected')) : untouched);
    } finally {
      bench.remove();
    }
  });

  it('cover every outcome, and the documentation has each with its exit code', () => {
    const outcomes = new Set(scenarios.map(({ outcome }) => outcome));
    expect([...outcomes].sort()).toEqual([...Outcome.options].sort());
    const told = readFileSync(join(import.meta.dirname, '../docs/exit-codes.md'), 'utf8');
    for (const { outcome, expected } of scenarios) expect(told).toContain(`| ${expected.exit_code} | \`${outcome}\` |`);
  });
});
