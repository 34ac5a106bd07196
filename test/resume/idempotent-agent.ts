import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { chat, chatCall } from '../model/scripted-server.ts';

/** One call of the agent; it is safe to make again, as an agent's call after a cancelled one has to be. */
export interface Call {
  key: string;
  name: string;
  input: Record<string, unknown>;
}

const Body = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.unknown().optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z.array(z.object({ id: z.string() })).optional(),
    }),
  ),
});

export interface Agent {
  url: string;
  /** Called with the number of a request, before it is answered; `after`: once the answer is out. */
  onRequest: ((n: number, when: 'before' | 'after') => void) | null;
  requests(): number;
  close(): Promise<void>;
}

const wasCancelled = (content: unknown) => /cancelled: |not run: /.test(JSON.stringify(content ?? ''));

/**
 * A model server that knows nothing but the request: it takes the first step whose calls have no result yet but that of a cancelled one, so that
 * a resumed run can be answered as an uninterrupted one.
 */
export async function startAgent(steps: readonly (readonly Call[])[]): Promise<Agent> {
  let requests = 0;
  const agent: Agent = {
    url: '',
    onRequest: null,
    requests: () => requests,
    close: async () => undefined,
  };
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { messages } = Body.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    requests += 1;
    agent.onRequest?.(requests, 'before');
    const keyOf = (id: string) => id.split('~')[0] ?? '';
    const ids = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const asked = new Map(ids.map((id) => [keyOf(id), ids.filter((other) => keyOf(other) === keyOf(id)).length]));
    const done = new Set(
      messages.flatMap(({ tool_call_id: id, content }) =>
        id !== undefined && !wasCancelled(content) ? [keyOf(id)] : [],
      ),
    );
    const step = steps.find((calls) => calls.some(({ key }) => !done.has(key))) ?? [];
    const open = step.filter(({ key }) => !done.has(key));
    const deltas = open.flatMap(({ key, name, input }, i) =>
      chatCall(name, JSON.stringify(input), i, `${key}~${(asked.get(key) ?? 0) + 1}`),
    );
    const answer = chat(
      deltas.length > 0 ? deltas : [{ content: 'all is done' }],
      deltas.length > 0 ? 'tool_calls' : 'stop',
    );
    if (typeof answer === 'function') answer(response);
    else response.writeHead(200, answer.headers).end(answer.body, () => agent.onRequest?.(requests, 'after'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  agent.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return agent;
}
