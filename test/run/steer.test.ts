import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { createEventChannel, loadPolicy, type RunHandle, startRun } from '../../src/index.ts';
import { chat, chatCall, type Step, startScriptedServer } from '../model/scripted-server.ts';
import { commitAll, createBench } from '../scenario.ts';

const Note = z.object({
  note: z.object({
    kind: z.string(),
    turn: z.number(),
    source: z.string(),
    trusted: z.boolean(),
    message: z.unknown(),
  }),
});

const call = (name: string, input: object) => chat(chatCall(name, JSON.stringify(input)), 'tool_calls');
const FINISH = call('finish', { status: 'done', summary: 'done' });

it('messages put in between turns reach the next request in order, and nobody once the work is over', async () => {
  let run: RunHandle | null = null;
  const taken: (boolean | undefined)[] = [];
  /** Steers while the answer is under way. */
  const during = (texts: readonly string[], step: Step): Step => {
    return (response) => {
      for (const text of texts) taken.push(run?.steer(text));
      if (typeof step !== 'function') response.writeHead(200, step.headers).end(step.body);
    };
  };
  const server = await startScriptedServer([
    during(['Use tabs.', 'No, spaces.'], call('shell', { command: 'echo a > a.txt' })),
    during(['And a test.'], call('shell', { command: 'echo b > b.txt' })),
    FINISH,
  ]);
  onTestFinished(() => server.close());
  const bench = createBench({ 'a.txt': 'x\n' });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  const text = JSON.stringify({
    version: 1,
    model: { provider: 'openai-compatible', name: 'm', base_url: `${server.url}/v1` },
    verify: { checks: [] },
  });
  const channel = createEventChannel();
  run = startRun(
    {
      ...{ kind: 'agent', version: '0.0.0', goal: 'go', workspace: bench.ws, references: [], outputSchema: null },
      policy: await loadPolicy({ kind: 'text', bytes: Buffer.from(text), source: 'policy' }),
      ...{ replay: null, record: null, trustRef: null, ephemeral: false, streamFiles: [] },
      files: { result: null, patch: null, message: null },
      ...{ environment: bench.env, stateDir: join(bench.root, 'state'), delivery: 'keep-verified' },
    },
    { main: channel.sink, others: [] },
  );
  let threadId = '';
  for await (const event of channel.events) if (event.type === 'thread.started') threadId = event.thread_id;
  expect((await run.result).outcome).toBe('unchecked');
  taken.push(run.steer('Too late.'));
  expect(taken).toEqual([true, true, true, false]);

  const said = server.requests.map(({ body }) =>
    z.array(z.object({ role: z.string(), content: z.unknown() })).parse(body['messages']),
  );
  const steers = ['Use tabs.', 'No, spaces.', 'And a test.'];
  const users = said.map((messages) => messages.filter(({ role }) => role === 'user').map(({ content }) => content));
  expect(users.map((texts) => texts.slice(1))).toEqual([[], steers.slice(0, 2), steers]);
  expect(said[1]?.slice(-3).map(({ role }) => role)).toEqual(['tool', 'user', 'user']);

  const lines = readFileSync(join(bench.root, 'state/threads', threadId, 'notes.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const notes = lines.flatMap((line) => {
    const { data } = Note.safeParse(JSON.parse(line));
    return data?.note.source === 'steer' ? [data.note] : [];
  });
  expect(notes).toEqual(
    steers.map((one, i) => ({
      ...{ kind: 'message', turn: i < 2 ? 1 : 2, source: 'steer', trusted: true },
      message: { role: 'user', text: one },
    })),
  );
});
