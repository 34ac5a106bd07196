import { createHash } from 'node:crypto';
import type { Message, ModelRequest, ToolSpec } from './model.ts';

/** Digests of messages and the text of tool lists that were seen before. */
export type DigestMemo = WeakMap<Message | ModelRequest['tools'], string>;

/**
 * Hex sha-256 of a request in belay's own form: system, tools and messages. Left out is what may differ though the same was
 * said: ids of calls, provider state and reasoning (a recording has no state), the spacing of a call's JSON.
 * With `memo` each message is hashed once, so that a long thread costs no more a turn than a short one; messages are immutable.
 */
export function requestDigest(request: ModelRequest, memo: DigestMemo = new WeakMap()): string {
  const messages = request.messages.map((message) => {
    const known = memo.get(message);
    if (known !== undefined) return known;
    const digest = sha256(canonical(sketch(message)));
    memo.set(message, digest);
    return digest;
  });
  const tools = memo.get(request.tools) ?? canonical(request.tools.map(pickSpec));
  memo.set(request.tools, tools);
  // What `canonical` would give, but for the walk through thousands of digests.
  return sha256(`{"messages":${JSON.stringify(messages)},"system":${JSON.stringify(request.system)},"tools":${tools}}`);
}

function pickSpec({ name, description, inputSchema }: ToolSpec): ToolSpec {
  return { name, description, inputSchema };
}

function sketch(message: Message): unknown {
  switch (message.role) {
    case 'user':
      return { role: 'user', text: message.text };
    case 'tool':
      return { role: 'tool', results: message.results.map(({ name, text, isError }) => ({ name, text, isError })) };
    case 'assistant': {
      const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const calls = message.parts.flatMap((part) =>
        part.type === 'tool_call' ? [{ name: part.name, input: parsed(part.input) }] : [],
      );
      return { role: 'assistant', text, calls };
    }
  }
}

function parsed(input: string): unknown {
  try {
    return { json: JSON.parse(input) };
  } catch (error) {
    if (error instanceof SyntaxError) return { raw: input };
    throw error;
  }
}

/** JSON with sorted keys and without undefined properties. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
