import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Result } from '../../src/events/index.ts';
import { createRunner, type TestRunner } from './create-runner.ts';
import { runSteps, type StepsEnd } from './runner.ts';
import { ROOT, Step } from './workflow-file.ts';

const runners: TestRunner[] = [];
afterEach(() => {
  for (const runner of runners.splice(0)) runner.remove();
});
function makeRunner(options: Parameters<typeof createRunner>[0] = {}): TestRunner {
  const runner = createRunner(options);
  runners.push(runner);
  return runner;
}

const DEMO = {
  'goal-file': join(ROOT, 'examples/demo/goal.md'),
  replay: join(ROOT, 'examples/demo/cassette.jsonl'),
};
/** The step of a workflow that uses the action. */
function useBelay(runner: TestRunner, inputs: Record<string, string>): Promise<StepsEnd> {
  const step = Step.parse({ id: 'belay', uses: 'OWNER/belay@0000', with: inputs });
  return runSteps(runner, [step], { contexts: {}, env: {}, actionPath: null });
}
const outputsOf = (end: StepsEnd) => end.steps['belay']?.outputs ?? {};
const annotations = (end: StepsEnd) => end.commands.filter(({ name }) => ['error', 'warning', 'notice'].includes(name));

const AS = [
  { who: 'the user of this process', uid: null },
  ...(process.getuid?.() === 0 ? [{ who: 'uid 1001', uid: 1001 }] : []),
];

describe('action.yml', () => {
  it.each(AS)('runs green on the demo repository, as $who', async ({ uid }) => {
    const runner = makeRunner({ uid });
    const end = await useBelay(runner, DEMO);
    const { message, 'cost-usd': cost, ...outputs } = outputsOf(end);
    const result = Result.parse(JSON.parse(readFileSync(outputs['result-path'] ?? '', 'utf8')));
    expect({ failed: end.failed, outputs, message, cost: cost === '' ? null : Number(cost) }).toEqual({
      failed: false,
      outputs: {
        outcome: 'verified',
        verified: 'true',
        'exit-code': '0',
        'result-path': expect.stringContaining(`${runner.temp}/belay-`),
        'patch-path': expect.stringMatching(/change\.patch$/),
        'events-path': expect.stringMatching(/events\.jsonl$/),
        'report-path': expect.any(String),
        'thread-path': expect.any(String),
      },
      message: result.message,
      cost: result.cost_usd,
    });
    expect(annotations(end)).toEqual([
      { name: 'notice', properties: { title: 'belay: verified' }, message: result.reason },
    ]);
    expect(end.summary).toBe(readFileSync(outputs['report-path'] ?? '', 'utf8'));
    expect(runner.artifacts.get('belay')).toEqual(
      expect.arrayContaining(['result.json', 'change.patch', 'events.jsonl']),
    );
    expect(runner.git('status', '--porcelain')).toBe('M src/split-bill.js');
    expect(end.text.join('\n')).toContain('split-bill');
  });

  it('ends a cancelled run in order: outputs are written, and the artifact is kept', async () => {
    const runner = makeRunner();
    const cassette = join(runner.root, 'cassette.jsonl');
    const answer = { tool_calls: [{ name: 'shell', input: { command: 'sleep 600' } }] };
    writeFileSync(cassette, `${JSON.stringify(answer)}\n`);
    let cancelled = false;
    runner.watch = (output, kill) => {
      if (cancelled || !/"type":"item\.started".*sleep 600/.test(output)) return;
      cancelled = true;
      kill('SIGINT');
    };
    const end = await useBelay(runner, { goal: 'wait', replay: cassette, format: 'jsonl' });
    const { outcome, verified, 'exit-code': code, 'thread-path': thread } = outputsOf(end);
    expect({ failed: end.failed, outcome, verified, code }).toEqual({
      failed: true,
      outcome: 'interrupted',
      verified: 'false',
      code: '130',
    });
    expect(thread).toMatch(/thread\.belay$/);
    expect(runner.artifacts.get('belay')).toEqual(
      expect.arrayContaining(['result.json', 'events.jsonl', 'report.md', 'thread.belay']),
    );
  });
});
