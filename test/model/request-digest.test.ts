import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRequestDigest, type Message } from '../../src/model/index.ts';
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
    expect(createRequestDigest()(other)).toBe(createRequestDigest()(thread(parts)));
  });

  test('sees everything else', () => {
    const variants = [
      thread(parts),
      thread([{ type: 'tool_call', id: 'a', name: 'shell', input: '{"command":"rm"}' }]),
      requestOf([], { system: 'Be bad.' }),
      requestOf([], { tools: [] }),
      requestOf([]),
    ];
    expect(new Set(variants.map((request) => createRequestDigest()(request))).size).toBe(variants.length);
  });

  test('stays what threads and cassettes have on record', () => {
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const said = sha256('{"role":"user","text":"go"}');
    const request = requestOf([{ role: 'user', text: 'go' }], { system: 'Be "good".', tools: [] });
    expect(createRequestDigest()(request)).toBe(
      sha256(`{"messages":["${said}"],"system":"Be \\"good\\".","tools":[]}`),
    );
  });

  test('is the same whatever was asked before: threads that grow, shrink or change in the middle', () => {
    const message = fc.oneof(
      fc.string().map((text): Message => ({ role: 'user', text })),
      fc.string().map((text): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] })),
    );
    const threads = fc.array(message, { minLength: 1, maxLength: 6 }).chain((pool) => fc.array(fc.subarray(pool)));
    fc.assert(
      fc.property(threads, fc.boolean(), (all, isCopied) => {
        const digestOf = createRequestDigest();
        for (const messages of all) {
          const request = requestOf(isCopied ? messages.map((one) => ({ ...one })) : messages);
          expect(digestOf(request)).toBe(createRequestDigest()(request));
        }
      }),
    );
  });
});
