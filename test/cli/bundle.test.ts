import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chat, chatCall, startScriptedServer } from '../model/scripted-server.ts';
import { commitAll, createBench, runCli } from '../scenario.ts';

/** What is loaded on demand is another thing in dist/ than from node_modules/: these go through the built program. */

test.each([
  ['{"txt":1}', '1:2', 'Unrecognized key'],
  ['{"text":"a"}\n{"text": tru}', '2:10', 'this is not JSON'],
])('the cassette %j is a usage error with its place', async (text, place, words) => {
  const bench = createBench({ 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  const cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, text);
  const { code, result } = await runCli(['run', 'go', '--replay', cassette], bench);
  expect({ code, outcome: result?.outcome }).toEqual({ code: 2, outcome: 'usage_error' });
  expect(result?.reason).toContain(`model.jsonl:${place}: ${words}`);
});

test('the program in one piece, which is read byte by byte, holds nothing but ASCII', () => {
  const bytes = readFileSync(join(import.meta.dirname, '../../dist/belay.cjs'));
  expect(bytes.filter((byte) => byte > 0x7f)).toHaveLength(0);
});

test('a model is reached through the proxy of the environment', async () => {
  const server = await startScriptedServer([
    chat(chatCall('finish', '{"status": "done", "summary": "so it is"}'), 'tool_calls'),
  ]);
  onTestFinished(() => server.close());
  const asked: (string | undefined)[] = [];
  const proxy = http.createServer();
  const sockets = new Set<net.Socket>();
  proxy.on('connection', (socket) => sockets.add(socket));
  proxy.on('connect', (request, socket) => {
    asked.push(request.url);
    const upstream = net.connect(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const model = { provider: 'openai-compatible', name: 'm', base_url: 'http://models.example:8000/v1', retries: 0 };
  const bench = createBench({ 'belay.yml': JSON.stringify({ version: 1, model, verify: { checks: [] } }) });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  const { port } = proxy.address() as AddressInfo;
  const { result } = await runCli(['run', 'go'], bench, { env: { HTTP_PROXY: `http://127.0.0.1:${port}` } });
  expect(result).toMatchObject({ outcome: 'unchecked', message: 'so it is' });
  expect(asked).toEqual(['models.example:8000']);
});

const PROVIDER = `export function createTiny() {
  return { languageModel: (modelId) => ({ specificationVersion: 'v3', async doStream() {
    const parts = [
      { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'from ' + modelId },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'end' }, usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } } },
    ];
    return { stream: new ReadableStream({ start(c) { for (const part of parts) c.enqueue(part); c.close(); } }) };
  } }) };
}`;

test('a provider package is imported as a module from the folder that the environment names', async () => {
  const bench = createBench({
    'belay.yml': JSON.stringify({
      version: 1,
      model: { provider: '@tiny/models', name: 'big' },
      verify: { checks: [] },
    }),
  });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  const folder = join(bench.io, 'node_modules/@tiny/models');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@tiny/models', exports: './index.mjs' }));
  writeFileSync(join(folder, 'index.mjs'), PROVIDER);
  const { result } = await runCli(['run', 'go'], bench, { env: { BELAY_PROVIDERS: bench.io } });
  expect(result).toMatchObject({ outcome: 'unchecked', message: 'from big' });
});
