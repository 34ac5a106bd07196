import { createHash, type Hash } from 'node:crypto';
import { parseJson } from '../events/index.ts';
import { foldGrowing } from './fold-growing.ts';
import type { Message, ModelRequest, ToolSpec } from './model.ts';

/** Hex sha-256 of a request in belay's own form; see `createRequestDigest`. */
export type RequestDigest = (request: ModelRequest) => string;

/**
 * Hex sha-256 of a request in belay's own form: system, tools and messages. Left out is what may differ though the same was
 * said: ids of calls, provider state and reasoning (a recording has no state), the spacing of a call's JSON. One for all requests of a
 * thread hashes each message once.
 */
export function createRequestDigest(): RequestDigest {
  const toolTexts = new WeakMap<ModelRequest['tools'], string>();
  const hashMessages = foldGrowing<Message, { hash: Hash; comma: string }>({
    start: () => ({ hash: createHash('sha256').update('{"messages":['), comma: '' }),
    add: ({ hash, comma }, message) => ({
      hash: hash.update(`${comma}"${sha256(canonical(sketch(message)))}"`),
      comma: ',',
    }),
  });
  return ({ system, tools, messages }) => {
    const toolText = toolTexts.get(tools) ?? canonical(tools.map(pickSpec));
    toolTexts.set(tools, toolText);
    const end = `],"system":${JSON.stringify(system)},"tools":${toolText}}`;
    return hashMessages(messages).hash.copy().update(end).digest('hex');
  };
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
    return { json: parseJson(input) };
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
