import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addUsage, NO_USAGE, readEvents } from '../../src/events/index.ts';
import { auditEvents } from '../../src/thread/index.ts';
import { commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const usage = fc.record({ input_tokens: fc.nat(3000), output_tokens: fc.nat(300) });
const call = (name: string, input: object) => ({ name, input });
const anyCall = fc.oneof(
  fc
    .constantFrom('echo a', 'echo b', 'exit 3', 'echo x > new.txt', 'rm -f a.txt', 'touch forbidden')
    .map((command) => call('shell', { command })),
  fc.constantFrom('a.txt', 'none.txt', '../outside').map((path) => call('read_file', { path })),
  fc.constantFrom('a', 'zz').map((pattern) => call('search', { pattern })),
  fc.constantFrom('a.txt', '.git/x', 'new.txt').map((path) => call('write_file', { path, content: 'good\n' })),
  fc.constant(call('update_plan', { steps: [{ text: 'one', status: 'in_progress' }] })),
  fc.constant(call('make_coffee', { cups: 2 })),
  fc.constant(call('shell', { command: 7 })),
  fc.constantFrom('done', 'cannot').map((status) => call('finish', { status, summary: 'so it is' })),
);
const answer = fc.oneof(
  { weight: 6, arbitrary: fc.record({ tool_calls: fc.array(anyCall, { minLength: 1, maxLength: 4 }), usage }) },
  { weight: 1, arbitrary: fc.record({ text: fc.constantFrom('', 'That is all.'), usage }) },
  {
    weight: 1,
    arbitrary: fc.record({ tool_calls: fc.constant([{ name: 'shell', raw_arguments: '{"command": "cut' }]), usage }),
  },
  { weight: 1, arbitrary: fc.constant({ error: { http_status: 400, message: 'no' } }) },
);
const limits = fc.record({
  turns: fc.integer({ min: 1, max: 6 }),
  attempts: fc.integer({ min: 1, max: 3 }),
  tool_calls: fc.integer({ min: 1, max: 8 }),
  tokens: fc.integer({ min: 3000, max: 40_000 }),
  repeats: fc.integer({ min: 2, max: 3 }),
});

describe('whatever the model answers', () => {
  it('the loop keeps its bounds, and the stream tells all of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 8 }), limits, async (answers, bounds) => {
        const policy = {
          version: 1,
          limits: bounds,
          tools: { edit: 'replace_text' },
          commands: { deny: ['touch forbidden'] },
          verify: { checks: [{ name: 'good', run: 'grep -q good a.txt' }], flaky_retries: 0 },
        };
        const bench = createBench({ 'a.txt': 'bad\n', 'belay.yml': JSON.stringify(policy) });
        try {
          commitAll(bench);
          const before = treeOf(bench.ws);
          const cassette = join(bench.io, 'model.jsonl');
          const events = join(bench.io, 'events.jsonl');
          writeFileSync(cassette, answers.map((line) => `${JSON.stringify(line)}\n`).join(''));
          const end = await runCli(['run', 'make it good', '--replay', cassette, '--events', events], bench);
          const { result } = end;
          if (result === null) throw new Error(`no result: ${end.stderr}`);

          expect((await auditEvents(readEvents(events))).faults).toEqual([]);
          expect(end.code).toBe(result.exit_code);
          const turns = end.events.filter((event) => event.type === 'turn.started');
          const ended = end.events.flatMap((event) =>
            event.type === 'turn.completed' || event.type === 'turn.failed' ? [event] : [],
          );
          expect(turns.length).toBeLessThanOrEqual(bounds.turns);
          expect(ended.length).toBe(turns.length);
          expect(ended.reduce((sum, event) => addUsage(sum, event.usage), NO_USAGE)).toEqual(result.usage);
          expect(result.limits.tool_calls.used).toBeLessThanOrEqual(bounds.tool_calls);
          const rounds = new Set(
            end.events.flatMap((event) => (event.type === 'verification.started' ? [event.attempt] : [])),
          );
          expect(rounds.size).toBeLessThanOrEqual(bounds.attempts);
          expect(result.verified).toBe(result.exit_code === 0);
          if (result.verified) expect(bench.read('a.txt')).toContain('good');
          else expect(treeOf(bench.ws)).toEqual(before);
        } finally {
          bench.remove();
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
  }, 300_000);
});
