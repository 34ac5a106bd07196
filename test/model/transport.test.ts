import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxyFor } from '../../src/model/proxy.ts';
import { answerOf, ask, failureOf, modelPolicy, openModel, requestOf } from './fixtures.ts';
import { chat, stallAfter, startScriptedServer } from './scripted-server.ts';

const FINE = chat([{ content: 'fine' }]);

/** A CONNECT proxy that takes every name for this machine. */
async function startProxy(
  target: string,
): Promise<{ url: string; seen: { target: string | undefined; authorization: string | undefined }[] }> {
  const seen: { target: string | undefined; authorization: string | undefined }[] = [];
  const server = http.createServer((_, response) => response.writeHead(405).end());
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request, socket) => {
    seen.push({ target: request.url, authorization: request.headers['proxy-authorization'] });
    const upstream = net.connect(Number(new URL(target).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://user:word@127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

describe('behind a proxy', () => {
  test('requests go through it, streamed, with its credentials', async () => {
    const server = await startScriptedServer([FINE]);
    onTestFinished(() => server.close());
    const proxy = await startProxy(server.url);
    const model = await openModel(modelPolicy({ baseUrl: 'http://models.example:8000/v1' }), { HTTP_PROXY: proxy.url });

    expect(answerOf(await ask(model)).parts).toEqual([{ type: 'text', text: 'fine' }]);
    expect(server.requests[0]?.headers.host).toBe('models.example:8000');
    expect(proxy.seen).toEqual([
      { target: 'models.example:8000', authorization: `Basic ${Buffer.from('user:word').toString('base64')}` },
    ]);
  });

  test('idle time and abort work as without', async () => {
    const server = await startScriptedServer([stallAfter()]);
    onTestFinished(() => server.close());
    const proxy = await startProxy(server.url);
    const open = (requestTimeoutMs: number) =>
      openModel(modelPolicy({ baseUrl: 'http://models.example/v1', requestTimeoutMs }), { http_proxy: proxy.url });
    expect(failureOf(await ask(await open(300)))).toMatchObject({ code: 'stalled', retryable: true });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    expect((await ask(await open(20_000), requestOf(), controller.signal)).outcome).toMatchObject({ kind: 'aborted' });
  });

  test('a proxy that is not there is named, without its password', async () => {
    const model = await openModel(modelPolicy({ baseUrl: 'http://models.example/v1' }), {
      HTTP_PROXY: 'http://user:word@127.0.0.1:9',
    });
    const failure = failureOf(await ask(model));
    expect(failure).toMatchObject({
      code: 'network',
      retryable: true,
      message: expect.stringContaining('models.example through the proxy 127.0.0.1:9'),
    });
    expect(failure.message).not.toContain('word');
  });

  test.each([
    ['https://api.example/x', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://api.example/x', { https_proxy: 'p:1' }, 'http://p:1'],
    ['https://api.example/x', { HTTP_PROXY: 'http://p:1' }, null],
    ['https://api.example/x', { ALL_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://api.example/x', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, null],
    ['https://api.example/x', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'other, .api.example' }, null],
    ['https://v1.api.example/x', { HTTPS_PROXY: 'http://p:1', no_proxy: 'api.example' }, null],
    ['https://myapi.example/x', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'api.example' }, 'http://p:1'],
    ['https://api.example/x', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'api.example:8443' }, 'http://p:1'],
    ['https://api.example:8443/x', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'api.example:8443' }, null],
    ['http://[fd00::1]/x', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'fd00::1' }, null],
    ['http://127.0.0.1:80/x', { HTTP_PROXY: 'http://p:1' }, null],
    ['http://localhost/x', { HTTP_PROXY: 'http://p:1' }, null],
    ['http://[::1]/x', { HTTP_PROXY: 'http://p:1' }, null],
    ['http://api.example/x', { HTTP_PROXY: '' }, null],
  ])('%s with %j goes through %s', (url, env, expected) => {
    expect(proxyFor(new URL(url), env)).toBe(expected);
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test.skipIf(!hasOpenssl)('SSL_CERT_FILE adds an authority; without it the failure says what to set', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
    ],
    { stdio: 'ignore' },
  );
  const server = https.createServer({ key: await readFile(key), cert: await readFile(cert) }, (request, response) => {
    request.resume();
    if (typeof FINE !== 'function') response.writeHead(200, FINE.headers).end(FINE.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const policy = modelPolicy({ baseUrl: `https://localhost:${(server.address() as AddressInfo).port}/v1` });

  expect(failureOf(await ask(await openModel(policy)))).toMatchObject({
    code: 'network',
    retryable: false,
    message: expect.stringContaining('SSL_CERT_FILE'),
  });
  expect(answerOf(await ask(await openModel(policy, { SSL_CERT_FILE: cert }))).parts).toEqual([
    { type: 'text', text: 'fine' },
  ]);
  await expect(openModel(policy, { SSL_CERT_FILE: join(folder, 'none') })).rejects.toMatchObject({
    name: 'UsageError',
  });
});
