import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerOf, ask, openModel, requestOf, resultsFor, SHELL, WIRES, wirePolicy } from './fixtures.ts';

// A server that this project did not write judges the requests and speaks the four wires.
const aimock = new LLMock({ port: 0, logLevel: 'silent' });

beforeAll(async () => {
  aimock.on(
    { userMessage: 'list', hasToolResult: false },
    { toolCalls: [{ id: 'call_one', name: 'shell', arguments: '{"command":"ls"}' }] },
  );
  aimock.on({ userMessage: 'list', hasToolResult: true }, { content: 'There are two files.' });
  aimock.on(
    { userMessage: 'limited' },
    { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 7 },
  );
  await aimock.start();
});
afterAll(() => aimock.stop());

describe.each(['responses', 'chat', 'compatible', 'anthropic', 'google'] as const)('the %s wire', (wire) => {
  const open = () =>
    openModel(wirePolicy(wire, aimock.url), { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' });

  test('carries a tool call and its result', async () => {
    const model = await open();
    const goal = { role: 'user' as const, text: 'list' };

    const first = await ask(model, requestOf([goal]));
    const calls = answerOf(first).parts.filter((part) => part.type === 'tool_call');
    expect(calls).toMatchObject([{ name: 'shell', input: '{"command":"ls"}' }]);
    expect(answerOf(first).finish).toBe('tool_calls');

    const second = await ask(model, requestOf([goal, ...resultsFor(first, 'a.txt b.txt')]));
    expect(answerOf(second).parts.at(-1)).toMatchObject({ type: 'text', text: 'There are two files.' });
    expect(answerOf(second).finish).toBe('stop');
    expect(second.texts.join('')).toBe('There are two files.');
    expect(answerOf(second).usage.requests).toBe(1);

    const seen = aimock.getRequests().at(-1)?.body;
    expect(JSON.stringify(seen)).toContain('a.txt b.txt');
    expect(JSON.stringify(seen)).toContain('Be good.');
    expect(JSON.stringify(seen)).toContain(SHELL.description);
    expect(JSON.stringify(seen)).toContain(WIRES[wire].name);
  });

  test('tells a rate limit with what the provider asks for', async () => {
    const { outcome } = await ask(await open(), requestOf([{ role: 'user', text: 'limited' }]));
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { code: 'rate_limited', retryable: true, httpStatus: 429, retryAfterMs: 7000 },
      usage: { requests: 1, retries: 0 },
    });
  });
});
