import { createHash } from 'node:crypto';
import type { Message, ModelRequest } from './model.ts';

/**
 * Hex sha-256 of a request in belay's own form: system, tools and messages. Left out is what may differ though the same was
 * said: ids of calls, provider state and reasoning (a recording has no state), the spacing of a call's JSON.
 * With `memo` each message is hashed once, so that a long thread costs no more a turn than a short one; messages are immutable.
 */
export function requestDigest(request: ModelRequest, memo: WeakMap<Message, string> = new WeakMap()): string {
  const messages = request.messages.map((message) => {
    const known = memo.get(message);
    if (known !== undefined) return known;
    const digest = sha256(canonical(sketch(message)));
    memo.set(message, digest);
    return digest;
  });
  const tools = request.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return sha256(canonical({ system: request.system, tools, messages }));
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
