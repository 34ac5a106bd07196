import { afterEach, beforeEach, expect, it } from 'vitest';
import { chat, chatCall, type ScriptedServer, type Step, startScriptedServer } from '../model/scripted-server.ts';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

let bench: Bench;
let server: ScriptedServer | null = null;
beforeEach(() => {
  bench = createBench({ 'a.txt': 'a\n' });
});
afterEach(async () => {
  await server?.close();
  server = null;
  bench.remove();
});

async function runAgainst(steps: readonly Step[]) {
  server = await startScriptedServer(steps);
  const model = `{provider: openai-compatible, name: m, base_url: "${server.url}/v1", retries: 0}`;
  bench.write('belay.yml', `version: 1\nmodel: ${model}\nverify: {checks: []}\n`);
  commitAll(bench);
  return runCli(['run', 'go'], bench);
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

it('a call whose input is nested too deep is told to the model, and the run goes on', async () => {
  const { code, events, result } = await runAgainst([
    chat(chatCall('shell', `{"command":${deep(100_000)}}`)),
    chat(chatCall('finish', `{"status":"done","summary":"s","output":${deep(20_000)}}`)),
    chat(chatCall('finish', '{"status":"done","summary":"done"}')),
  ]);
  expect({ code, outcome: result?.outcome, message: result?.message }).toEqual({
    code: 0,
    outcome: 'unchecked',
    message: 'done',
  });
  const calls = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []));
  expect(calls.map(({ status }) => status)).toEqual(['failed', 'failed', 'completed']);
  expect(server?.requests.map(({ raw }) => raw.includes('nested deeper than'))).toEqual([false, true, true]);
});

it('an answer that never comes to its end is given up before it fills the memory', async () => {
  const piece = { tool_calls: [{ index: 0, function: { arguments: 'a'.repeat(1024 * 1024) } }] };
  const [begin] = chatCall('shell', '{"command":"');
  const { code, result } = await runAgainst([chat([begin, ...Array.from({ length: 9 }, () => piece)])]);
  expect({ code, error: result?.error }).toMatchObject({ code: 20, error: { code: 'malformed', retryable: false } });
});
