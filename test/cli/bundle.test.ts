import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
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
