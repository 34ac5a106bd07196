import { describe, expect, test } from 'vitest';
import { createNoted, TOOLS } from '../context/histories.ts';
import { answerOf, ask, scripted } from './fixtures.ts';
import { ANSWERS, SIGNED, saidBy } from './reasoned-answers.ts';

const TURNS = 5;

describe.each(Object.entries(ANSWERS))('reasoning over a long run (%s)', (name, answer) => {
  const wire = name as keyof typeof ANSWERS;

  test('goes back whole or not at all: with old results left out, after a summary, and from a resumed thread', async () => {
    const steps = Array.from({ length: TURNS + 4 }, (_, i) => answer(i));
    const { model, server } = await scripted(wire, steps, wire === 'compatible' ? {} : { reasoningEffort: 'medium' });
    const notes: string[] = [];
    const transcript = createNoted(null, notes);
    await transcript.addUser('goal', 'goal');
    const sent = async (of = transcript) => {
      await ask(model, { ...of.request(), tools: TOOLS });
      return server.requests.at(-1);
    };
    for (let i = 0; i < TURNS; i++) {
      const given = answerOf(await ask(model, transcript.request()));
      const { parts } = given;
      await transcript.addAnswer(given, { attempt: 1, costUsd: null });
      const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
      expect(calls).toHaveLength(2);
      await transcript.addResults(
        calls.map(({ id }) => ({ callId: id, name: 'shell', text: `result ${id}`, isError: false })),
      );
    }
    const whole = saidBy((await sent())?.body);
    expect(whole).toHaveLength(TURNS);
    expect(whole.filter((text) => !text.includes(SIGNED[wire]))).toEqual([]);

    const old = transcript.messages.slice(0, 5).flatMap((message) => (message.role === 'tool' ? message.results : []));
    const results = old.map(({ callId }) => ({ callId, text: '[left out]' }));
    await transcript.compact({ kind: 'elide', results, standIn: null, windowTokens: null });
    const elided = await sent();
    expect(saidBy(elided?.body)).toEqual(whole);
    expect(elided?.raw.match(/left out/g)).toHaveLength(4);

    const standIn = { text: '# Where the work stands', summary: 'so', keptMessages: 4 };
    await transcript.compact({ kind: 'summarize', results: [], standIn, windowTokens: null });
    const summarized = await sent();
    expect(saidBy(summarized?.body)).toEqual(whole.slice(-2));
    expect(summarized?.raw).toContain('Where the work stands');

    const resumed = await sent(createNoted(null, [...notes]));
    expect(resumed?.raw).toBe(summarized?.raw);
  });
});
