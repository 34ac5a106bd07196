import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { renderAnnotations } from '../../src/cli/github/render-annotations.ts';
import type { CheckResult } from '../../src/events/index.ts';
import { sampleResult } from '../events/sample-events.ts';
import { readRunnerLog } from './runner-log.ts';

const red = (name: string, required: boolean): CheckResult => ({
  name,
  command: 'npm test',
  required,
  baseline: 'passed',
  final: 'failed',
  classification: 'regressed',
  exit_code: 1,
  duration_ms: 5,
  output_sha256: null,
  output_tail: 'x'.repeat(50_000),
  tests: null,
  reason: 'r'.repeat(5_000),
});

it('annotations are ten of a kind at most, the verdict first, each with a bounded message', () => {
  const checks = Array.from({ length: 60 }, (_, at) => red(`check-${at}`, at % 2 === 0));
  const result = sampleResult({ outcome: 'unverified', exit_code: 10, reason: 'red', checks });
  const { commands, text } = readRunnerLog(renderAnnotations(result, { repository: tmpdir(), checkout: tmpdir() }));
  const kinds = commands.map(({ name }) => name);
  expect([kinds.length, kinds.filter((kind) => kind === 'error').length]).toEqual([20, 10]);
  expect(commands[0]).toMatchObject({ name: 'error', properties: { title: 'belay: unverified' }, message: 'red' });
  expect(Math.max(...commands.map(({ message }) => message.length))).toBeLessThanOrEqual(1_001);
  expect(text.join('')).toBe('');
});
