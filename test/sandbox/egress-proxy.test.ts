import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import tls from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { HAS_OPENSSL, makeCertificate } from './certificate.ts';
import { listen, openEcho, openProxyBench, type ProxyBench, readAll } from './egress-fixture.ts';

let bench: ProxyBench;
afterEach(() => bench.close());

const connectTo = (authority: string): string => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
const statusOf = (answer: string): number => Number(answer.split(' ')[1]);
const denied = (host: string, port: number, reason: string) => ({
  allowed: false,
  host,
  port,
  rule: expect.any(String),
  reason: expect.stringContaining(reason),
});

async function openServer(listener: http.RequestListener): Promise<number> {
  const server = http.createServer(listener);
  onTestFinished(() => void server.close());
  return listen(server);
}

describe('the proxy', () => {
  it('leads a tunnel to the address that it resolved itself, once', async () => {
    const echo = await openEcho();
    onTestFinished(echo.close);
    bench = await openProxyBench({
      allow: [`one.example:${echo.port}`, `127.0.0.1:${echo.port}`],
      names: { 'one.example': ['127.0.0.1'] },
    });
    const socket = bench.connect();
    socket.write(`${connectTo(`ONE.example.:${echo.port}`)}first `);
    await once(socket, 'data');
    socket.end('last');
    expect(await readAll(socket)).toBe('first last');
    expect(bench.asked).toEqual(['one.example']);
    expect(bench.decisions).toEqual([
      {
        allowed: true,
        host: 'one.example',
        port: echo.port,
        rule: `one.example:${echo.port}`,
        reason: 'the list names it',
      },
    ]);
  });

  it('refuses what no entry names, and does not even resolve it', async () => {
    bench = await openProxyBench({ allow: ['one.example'], names: { 'two.example': ['192.0.2.1'] } });
    for (const authority of ['two.example:443', 'one.example:22', '192.0.2.1:443', '0x7f.1:80', '[::1]:443'])
      expect([authority, statusOf(await bench.say(connectTo(authority)))]).toEqual([authority, 403]);
    expect(bench.asked).toEqual([]);
    expect(bench.decisions).toEqual([
      denied('two.example', 443, 'no entry'),
      denied('one.example', 22, 'but not port 22'),
      denied('192.0.2.1', 443, 'addresses'),
      denied('127.0.0.1', 80, 'addresses'),
      denied('::1', 443, 'addresses'),
    ]);
  });

  it.each([
    ['127.0.0.1', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['168.63.129.16', 'metadata'],
    ['100.100.100.200', 'carrier-grade NAT'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'reserved'],
    ['::1', 'loopback'],
    ['::', 'unspecified'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:a9fe:a9fe', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fd00:ec2::254', 'private'],
    ['ff02::1', 'multicast'],
    ['64:ff9b::a9fe:a9fe', 'link-local'],
    ['2002:7f00:1::', 'loopback'],
    ['2001:0:1::1', 'reserved'],
  ])('refuses a listed name that resolves to %s', async (address, kind) => {
    bench = await openProxyBench({ allow: ['one.example'], names: { 'one.example': [address] } });
    const answer = await bench.say(connectTo('one.example:443'));
    expect(statusOf(answer)).toBe(403);
    expect(bench.decisions).toEqual([denied('one.example', 443, `a ${kind} address`)]);
  });

  it('connects to the listed one of several addresses alone', async () => {
    const echo = await openEcho();
    onTestFinished(echo.close);
    const [name, listed] = [`one.example:${echo.port}`, `127.0.0.1:${echo.port}`];
    bench = await openProxyBench({ allow: [name, listed], names: { 'one.example': ['127.0.0.9', '127.0.0.1'] } });
    const socket = bench.connect();
    socket.write(connectTo(name));
    await once(socket, 'data');
    expect(echo.connections()).toBe(1);
    socket.destroy();
  });

  it('tells apart what it refuses and what it cannot reach', async () => {
    bench = await openProxyBench({ allow: ['gone.example', '127.0.0.1:1'] });
    expect([
      statusOf(await bench.say(connectTo('gone.example:443'))),
      statusOf(await bench.say(connectTo('127.0.0.1:1'))),
    ]).toEqual([502, 502]);
    expect(bench.decisions.map(({ allowed }) => allowed)).toEqual([true, true]);
  });

  it('sends a plain request on with its body and without what is between proxies, and never tells its path', async () => {
    let seen: unknown = null;
    const port = await openServer((request, answer) => {
      const body: Buffer[] = [];
      request.on('data', (chunk: Buffer) => body.push(chunk));
      request.on('end', () => {
        seen = {
          url: request.url,
          host: request.headers.host,
          accept: request.headers.accept,
          body: Buffer.concat(body).toString(),
          secret: request.headers['proxy-authorization'],
          hop: request.headers['x-hop'],
        };
        answer.writeHead(201, { 'x-two': ['a', 'b'] }).end('made');
      });
    });
    bench = await openProxyBench({
      allow: [`one.example:${port}`, `127.0.0.1:${port}`],
      names: { 'one.example': ['127.0.0.1'] },
    });
    const answer = await bench.say(
      `POST http://one.example:${port}/a/secret?q=1 HTTP/1.1\r\nHost: evil.example\r\nAccept: text/x\r\nProxy-Authorization: Basic eA==\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    );
    expect(seen).toEqual({
      url: '/a/secret?q=1',
      host: `one.example:${port}`,
      accept: 'text/x',
      body: 'abc',
      secret: undefined,
      hop: undefined,
    });
    expect(answer).toMatch(/^HTTP\/1.1 201 Created\r\nx-two: a\r\nx-two: b\r\n/);
    expect(answer).toContain('made');
    expect(JSON.stringify(bench.decisions)).not.toContain('secret');
  });

  it.each([
    ['a request to the proxy itself', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another scheme', 'GET https://one.example/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a URL with a user', 'GET http://one.example@two.example/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT without a port', connectTo('one.example')],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
    [
      'two lengths of a body',
      'POST http://one.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a header without end', `GET http://one.example/ HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('answers 400 to %s', async (_what, bytes) => {
    bench = await openProxyBench({ allow: ['one.example'] });
    expect(statusOf(await bench.say(bytes))).toBe(400);
    expect(bench.asked).toEqual([]);
  });

  it('goes through the proxy on the way out, which resolves, with its authorization', async () => {
    const seen: unknown[] = [];
    const server = http.createServer((request, answer) => {
      seen.push([request.method, request.url, request.headers['proxy-authorization']]);
      answer.end('forwarded');
    });
    server.on('connect', (request, socket) => {
      seen.push([request.method, request.url, request.headers['proxy-authorization']]);
      if (request.url === 'no.example:443') return void socket.end('HTTP/1.1 407 No\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(socket);
    });
    onTestFinished(() => void server.close());
    const url = new URL(`http://us%40er:word@127.0.0.1:${await listen(server)}`);
    bench = await openProxyBench({ allow: ['one.example', 'no.example'], upstream: { url } });
    const socket = bench.connect();
    socket.write(connectTo('one.example:443'));
    await once(socket, 'data');
    socket.end('echoed');
    expect(await readAll(socket)).toBe('echoed');
    expect(await bench.say('GET http://one.example/p HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toContain(
      'forwarded',
    );
    expect(statusOf(await bench.say(connectTo('no.example:443')))).toBe(502);
    expect(statusOf(await bench.say(connectTo('two.example:443')))).toBe(403);
    const authorization = `Basic ${Buffer.from('us@er:word').toString('base64')}`;
    expect(seen).toEqual([
      ['CONNECT', 'one.example:443', authorization],
      ['GET', 'http://one.example/p', authorization],
      ['CONNECT', 'no.example:443', authorization],
    ]);
    expect(bench.asked).toEqual([]);
  });

  it('ends every connection when it is closed, and leaves no socket', async () => {
    const echo = await openEcho();
    onTestFinished(echo.close);
    bench = await openProxyBench({ allow: [`127.0.0.1:${echo.port}`] });
    const [tunnel, idle] = [bench.connect(), bench.connect()];
    tunnel.write(connectTo(`127.0.0.1:${echo.port}`));
    await once(tunnel, 'data');
    const ends = Promise.all([readAll(tunnel), readAll(idle)]);
    expect(readdirSync(bench.dir)).toHaveLength(1);
    await bench.close();
    expect(await ends).toEqual(['', '']);
  });
});

describe.skipIf(!HAS_OPENSSL)('a TLS client in a tunnel', () => {
  async function handshake(authority: string, servername: string): Promise<string> {
    const socket = bench.connect();
    socket.write(connectTo(authority));
    await once(socket, 'data');
    const secure = tls.connect({ socket, servername, rejectUnauthorized: false });
    return new Promise((resolve) => {
      secure.once('secureConnect', () => resolve('connected'));
      secure.once('error', () => resolve('broken'));
      secure.once('close', () => resolve('broken'));
    }).then((word) => {
      secure.destroy();
      return String(word);
    });
  }

  it('may name the server that it was let through to, or another one of the list, and nothing else', async () => {
    const names = { 'one.example': ['127.0.0.1'] };
    const empty = await openProxyBench({ allow: [] });
    const server = tls.createServer(makeCertificate(empty.dir), (socket) => socket.end());
    onTestFinished(() => void server.close());
    await empty.close();
    const port = await listen(server);
    const one = `one.example:${port}`;
    bench = await openProxyBench({ allow: [one, `two.example:${port}`, `127.0.0.1:${port}`], names });
    expect(await handshake(one, 'one.example')).toBe('connected');
    expect(await handshake(one, 'two.example')).toBe('connected');
    expect(await handshake(one, '')).toBe('connected');
    expect(await handshake(`127.0.0.1:${port}`, 'any.example')).toBe('connected');
    const before = bench.decisions.length;
    expect(await handshake(one, 'evil.example')).toBe('broken');
    expect(bench.decisions.slice(before)).toEqual([
      expect.objectContaining({ allowed: true, host: 'one.example' }),
      denied('evil.example', port, 'TLS names another server than one.example'),
    ]);
  });
});
