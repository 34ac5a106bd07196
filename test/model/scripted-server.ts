import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

/** What one request gets: a plain answer, or whatever a function does to the response. */
export type Step =
  | { status?: number; headers?: Record<string, string>; body: string }
  | ((response: http.ServerResponse) => void);

interface SeenRequest {
  path: string;
  headers: http.IncomingHttpHeaders;
  /** As it came. */
  raw: string;
  body: Record<string, unknown>;
}

export interface ScriptedServer {
  url: string;
  requests: SeenRequest[];
  close(): Promise<void>;
}

const Body = z.record(z.string(), z.unknown());

/** Gives each request the next step; the last one goes on for ever. */
export async function startScriptedServer(steps: readonly Step[]): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks).toString('utf8');
    const step = steps[Math.min(requests.length, steps.length - 1)];
    requests.push({ path: request.url ?? '', headers: request.headers, raw, body: Body.parse(JSON.parse(raw)) });
    if (typeof step === 'function') step(response);
    else response.writeHead(step?.status ?? 200, step?.headers).end(step?.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A stream of server-sent events, each a JSON value; strings go out as they are. */
export function sse(...events: readonly unknown[]): Step {
  return { headers: { 'content-type': 'text/event-stream' }, body: events.map(frame).join('') };
}

function frame(event: unknown): string {
  if (typeof event === 'string') return event;
  const type = typeof event === 'object' && event !== null && 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${type}data: ${JSON.stringify(event)}\n\n`;
}

const chunk = (delta: unknown, finish_reason: string | null = null): unknown => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});

/** Chat Completions: the deltas, then a finish with its usage. */
export function chat(deltas: readonly unknown[], finish = 'stop'): Step {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 7,
    total_tokens: 107,
    prompt_tokens_details: { cached_tokens: 60 },
  };
  return sse(
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finish),
    { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage },
    'data: [DONE]\n\n',
  );
}

/** A tool call of Chat Completions, its arguments in two deltas. */
export function chatCall(name: string, args: string, index = 0, id = `call_${index}`): unknown[] {
  const half = Math.ceil(args.length / 2);
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: args.slice(0, half) } }] },
    { tool_calls: [{ index, function: { arguments: args.slice(half) } }] },
  ];
}

/** Sends the events, then resets the connection. */
export function resetAfter(...events: readonly unknown[]): Step {
  return (response) => {
    if (events.length === 0) return void response.socket?.resetAndDestroy();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.map(frame).join(''), () => response.socket?.resetAndDestroy());
  };
}

/** Sends the events and says nothing more. */
export function stallAfter(...events: readonly unknown[]): Step {
  return (response) => {
    if (events.length === 0) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.map(frame).join(''));
  };
}

export { chunk };

/** How Anthropic's stream of an answer begins. */
export const anthropicStart = (usage: object): object => ({
  type: 'message_start',
  message: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'c', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
});
