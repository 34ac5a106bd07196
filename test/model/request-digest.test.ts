import { describe, expect, test } from 'vitest';
import { requestDigest } from '../../src/model/index.ts';
import { requestOf } from './fixtures.ts';

describe('the digest of a request', () => {
  const parts = [{ type: 'tool_call' as const, id: 'a', name: 'shell', input: '{"command": "ls"}' }];
  const thread = (given: typeof parts) =>
    requestOf([
      { role: 'user', text: 'go' },
      { role: 'assistant', parts: given },
    ]);

  test('does not see ids, state, reasoning and spacing', () => {
    const same = [
      { type: 'reasoning' as const, text: 'hm', state: { p: { s: 1 } } },
      { type: 'tool_call' as const, id: 'b', name: 'shell', input: '{"command":"ls"}', state: {} },
    ];
    const other = requestOf(
      [
        { role: 'user', text: 'go' },
        { role: 'assistant', parts: same },
      ],
      { cacheKey: 'another' },
    );
    expect(requestDigest(other)).toBe(requestDigest(thread(parts)));
  });

  test('sees everything else, with and without memory', () => {
    const memo = new WeakMap();
    const variants = [
      thread(parts),
      thread([{ type: 'tool_call', id: 'a', name: 'shell', input: '{"command":"rm"}' }]),
      requestOf([], { system: 'Be bad.' }),
      requestOf([], { tools: [] }),
      requestOf([]),
    ];
    const digests = variants.map((request) => requestDigest(request));
    expect(new Set(digests).size).toBe(variants.length);
    expect(variants.map((request) => requestDigest(request, memo))).toEqual(digests);
    expect(variants.map((request) => requestDigest(request, memo))).toEqual(digests);
  });
});
