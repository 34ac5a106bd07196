import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EventBody } from '../../src/events/index.ts';
import { createRedactor, NO_USAGE } from '../../src/events/index.ts';
import { createBudget } from '../../src/loop/budget.ts';
import { type CompactSite, compactContext } from '../../src/loop/compact-context.ts';
import { type CassetteAnswer, createReplayModel, createRequestDigest, type Message } from '../../src/model/index.ts';
import { createThread, type Thread } from '../../src/thread/index.ts';
import { createNoted, GOAL, histories, take } from '../context/histories.ts';
import { tempFolder } from '../events/temp-folder.ts';
import { loadText } from '../policy/policy-of.ts';

const summaries = fc.array(
  fc.oneof(
    fc
      .nat(9000)
      .map((n): CassetteAnswer => ({ purpose: 'summary', text: `summary-${n} ${'so it was. '.repeat(n / 12)}` })),
    fc.constant<CassetteAnswer>({ purpose: 'summary', text: ' ' }),
    fc.constant<CassetteAnswer>({ purpose: 'summary', text: 'half a sum', finish: 'length' }),
    fc.constant<CassetteAnswer>({ purpose: 'summary', tool_calls: [{ name: 'shell', input: { command: 'ls' } }] }),
    fc.constant<CassetteAnswer>({ purpose: 'summary', error: { http_status: 400, message: 'no' } }),
  ),
  { maxLength: 6 },
);

async function openSite(lines: readonly CassetteAnswer[], window: number, notes: string[], turns: number) {
  const redactor = createRedactor([]);
  const thread = await createThread({
    ...{ stateDir: tempFolder(), workspace: tempFolder(), goal: 'g', ephemeral: true, redactor },
    clock: { now: () => 0 },
  });
  const transcript = createNoted(window, notes);
  await transcript.addUser(GOAL, 'goal');
  const model = await createReplayModel({ cassette: lines, model: null });
  const events: EventBody[] = [];
  const { limits } = (await loadText(`version: 1\nlimits: {turns: ${turns}}\n`)).policy;
  const before = { turns: 0, toolCalls: 0, usage: NO_USAGE, costUsd: 0 };
  const budget = createBudget({ limits, agentDeadlineMs: 1e9, before, costOf: () => null });
  const site: CompactSite = {
    ports: {
      ...{ model, transcript, requestDigest: createRequestDigest(), toolPorts: { workspace: '/some/workspace' } },
      emit: async (body) => void events.push(body),
      now: () => 0,
      elapsedMs: () => 0,
      openOutput: () => thread.openOutput(),
      redactStream: () => redactor.redactStream(),
    },
    ...{ budget, attempt: 1, tree: null, signal: new AbortController().signal },
    stopped: () => ({ kind: 'interrupted' }),
  };
  return { site, transcript, thread, events, budget };
}

/** A request in which a result is without its call, or a call without its result right behind it, has a fault. */
function pairingFaults(messages: readonly Message[]): string[] {
  return messages.flatMap((message, i) => {
    const before = messages[i - 1];
    const calls = (of: Message | undefined) =>
      of?.role === 'assistant' ? of.parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])) : [];
    const results = (of: Message | undefined) => (of?.role === 'tool' ? of.results.map(({ callId }) => callId) : []);
    if (message.role === 'tool' && `${results(message)}` !== `${calls(before)}`) return [`results ${results(message)}`];
    return calls(message).length > 0 && messages[i + 1]?.role !== 'tool' ? [`calls ${calls(message)}`] : [];
  });
}

async function readBack(line: string, thread: Thread): Promise<string | null> {
  const match = /read_output output_id=(\S+) offset=(\d+) limit=(\d+)/.exec(line);
  const found = await thread.readOutput(match?.[1] ?? '', { offset: Number(match?.[2]), limit: Number(match?.[3]) });
  return found === null || 'fault' in found ? null : found.bytes.toString('utf8');
}

it('a compaction keeps what the work needs, whatever the history and whatever the model makes of it', async () => {
  const seen = { elide: 0, model: 0, belay: 0, cut: 0 };
  await fc.assert(
    fc.asyncProperty(histories, summaries, fc.integer({ min: 8000, max: 30_000 }), async (steps, lines, window) => {
      const notes: string[] = [];
      const { site, transcript, thread, events, budget } = await openSite(lines, window, notes, 400);
      const original = new Map<string, string>();
      const cut = new Map<string, string>();
      const wanted = { plan: '', evidence: '', steers: [] as string[] };
      const answers = new Set<string>();
      let last: string[] = [];
      let newest = '';
      try {
        for (const step of steps) {
          for (const { callId, text } of await take(transcript, step)) {
            original.set(callId, text);
            newest = callId;
          }
          for (const message of transcript.messages)
            if (message.role === 'assistant') answers.add(JSON.stringify(message));
          if (step.kind === 'evidence') wanted.evidence = step.text;
          if (step.kind === 'steer') wanted.steers.push(step.text);
          if (step.kind === 'answer')
            for (const { input } of step.calls) wanted.plan = /plan-step-\d+/.exec(input)?.[0] ?? wanted.plan;

          const before = transcript.estimateTokens();
          const plan = transcript.decideCompaction();
          if (plan !== null) {
            expect(await compactContext(plan, site)).toBeNull();
            expect(transcript.estimateTokens()).toBeLessThan(before);
            expect(transcript.estimateTokens()).toBeLessThanOrEqual(0.85 * window);
            expect(transcript.decideCompaction()).toBeNull();
            seen.cut += plan.cut.length;
            last = [];
          }
          const { messages } = transcript.request();
          const texts = messages.map((message) => JSON.stringify(message));
          const whole = texts.join('\n');
          expect(pairingFaults(messages)).toEqual([]);
          expect(texts.slice(0, last.length)).toEqual(last);
          expect(
            [GOAL, wanted.plan, wanted.evidence, ...wanted.steers].filter(
              (text) => !whole.includes(JSON.stringify(text).slice(1, -1)),
            ),
          ).toEqual([]);
          expect(
            messages.filter((message) => message.role === 'assistant' && !answers.has(JSON.stringify(message))),
          ).toEqual([]);
          for (const message of messages) {
            for (const { callId, text } of message.role === 'tool' ? message.results : []) {
              if (text === original.get(callId)) continue;
              // A result that was cut first is found in that form, which says where its middle is.
              if (text.startsWith('[old'))
                expect(await readBack(text, thread)).toBe(cut.get(callId) ?? original.get(callId));
              else cut.set(callId, text);
              if (callId === newest) expect(text.startsWith('[old')).toBe(false);
            }
          }
          expect(createNoted(window, [...notes]).request()).toEqual(transcript.request());
          expect(createNoted(window, [...notes]).estimateTokens()).toBe(transcript.estimateTokens());
          last = texts;
        }
        const turns = events.filter(({ type }) => type === 'turn.started').length;
        expect(turns).toBe(budget.turns);
        expect(events.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed').length).toBe(turns);
        for (const event of events) {
          if (event.type !== 'context.compacted') continue;
          expect(event.after_tokens).toBeLessThan(event.before_tokens);
          seen[event.summary_by ?? 'elide'] += 1;
        }
      } finally {
        await thread.close();
      }
    }),
    // A fixed seed, with which every kind of compaction comes up: the last line says so.
    { numRuns: 120, endOnFailure: true, seed: 1 },
  );
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
}, 300_000);

it('is not asked of a model that has hardly a turn left', async () => {
  const { site, transcript, thread, events, budget } = await openSite(
    [{ purpose: 'summary', text: 'never' }],
    2000,
    [],
    2,
  );
  await take(transcript, { kind: 'answer', text: 'x'.repeat(7000), calls: [] });
  await take(transcript, { kind: 'answer', text: 'last', calls: [] });
  const plan = transcript.decideCompaction();
  if (plan === null) throw new Error('nothing to do');
  await compactContext(plan, site);
  expect(events).toMatchObject([{ type: 'context.compacted', kind: 'summarize', summary_by: 'belay' }]);
  expect({ turns: budget.turns, usage: budget.usage }).toEqual({ turns: 0, usage: NO_USAGE });
  await thread.close();
});
