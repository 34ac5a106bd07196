import { createServer, type ServerResponse } from 'node:http';

/** What the server saw of one request; times in milliseconds of `performance.now()`. */
export interface SeenRequest {
  arrivedMs: number;
  answeredMs: number;
  body: Buffer;
}

export interface ScriptedModel {
  url: string;
  /** Empties the record: the next request is turn 1. */
  begin(turns: number, command: (turn: number) => string): SeenRequest[];
  close(): Promise<void>;
}

/** A model server for Chat Completions that asks for one shell command a turn, then says that it is done. Loopback only. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  let seen: SeenRequest[] = [];
  let turns = 0;
  let commandOf: (turn: number) => string = () => 'true';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const arrivedMs = performance.now();
      const turn = seen.length + 1;
      answer(response, turn <= turns ? commandOf(turn) : null, turn);
      seen.push({ arrivedMs, answeredMs: performance.now(), body: Buffer.concat(chunks) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    begin(count, command) {
      seen = [];
      turns = count;
      commandOf = command;
      return seen;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function answer(response: ServerResponse, command: string | null, turn: number): void {
  const delta =
    command === null
      ? { role: 'assistant', content: 'done' }
      : {
          role: 'assistant',
          tool_calls: [
            {
              index: 0,
              id: `call_${turn}`,
              type: 'function',
              function: { name: 'shell', arguments: JSON.stringify({ command }) },
            },
          ],
        };
  const chunk = (choice: object, usage?: object) =>
    `data: ${JSON.stringify({ id: `c_${turn}`, object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [{ index: 0, ...choice }], ...(usage ? { usage } : {}) })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(
    chunk({ delta, finish_reason: null }) +
      chunk(
        { delta: {}, finish_reason: command === null ? 'stop' : 'tool_calls' },
        { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      ) +
      'data: [DONE]\n\n',
  );
}
