import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chat } from '../model/scripted-server.ts';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

const FINE = chat([{ content: 'Nothing to do.' }]);
let bench: Bench;
let authority: string;
let model: https.Server;
const open: (http.Server | https.Server)[] = [];
const sockets = new Set<net.Socket>();

const portOf = (server: net.Server) => (server.address() as AddressInfo).port;
async function listen<S extends http.Server | https.Server>(server: S): Promise<S> {
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  return server;
}

/** An authority of its own, and a server certificate from it. */
function makeCertificates(folder: string) {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const fresh = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...fresh, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=House CA');
  openssl(
    'req',
    ...fresh.slice(0, 3),
    '-keyout',
    at('key.pem'),
    '-out',
    at('request.pem'),
    '-subj',
    '/CN=models.example',
  );
  writeFileSync(at('names.txt'), 'subjectAltName=DNS:localhost,DNS:models.example\n');
  const sign = [
    '-CA',
    at('ca.pem'),
    '-CAkey',
    at('ca.key'),
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    at('names.txt'),
  ];
  openssl('x509', '-req', '-in', at('request.pem'), '-out', at('cert.pem'), ...sign);
  return { authority: at('ca.pem'), key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) };
}

beforeEach(async () => {
  bench = createBench({ 'a.txt': 'a\n' });
  const made = makeCertificates(bench.io);
  authority = made.authority;
  model = await listen(
    https.createServer(made, (request, response) => {
      request.resume();
      if (typeof FINE !== 'function') response.writeHead(200, FINE.headers).end(FINE.body);
    }),
  );
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of open.splice(0)) server.close();
  sockets.clear();
  bench.remove();
});

function runAgainst(host: string, env: NodeJS.ProcessEnv) {
  bench.write(
    'belay.yml',
    `version: 1\nmodel: {provider: openai-compatible, name: m, base_url: "https://${host}/v1", retries: 0}\nverify: {checks: []}\n`,
  );
  commitAll(bench);
  return runCli(['run', 'look'], bench, { env });
}

describe.skipIf(spawnSync('openssl', ['version']).status !== 0)("the harness's own network", () => {
  it.each(['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'])('trusts the authority that %s names', async (name) => {
    const end = await runAgainst(`localhost:${portOf(model)}`, { [name]: authority });
    expect({ code: end.code, outcome: end.result?.outcome, message: end.result?.message }).toEqual({
      code: 0,
      outcome: 'unchecked',
      message: 'Nothing to do.',
    });
  });

  it('does not trust it without, and says what to set', async () => {
    const end = await runAgainst(`localhost:${portOf(model)}`, {});
    expect({ code: end.code, retryable: end.result?.error?.retryable }).toEqual({ code: 20, retryable: false });
    expect(end.result?.reason).toContain('SSL_CERT_FILE');
  });

  it('goes through HTTPS_PROXY, with TLS from end to end', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = await listen(http.createServer((_, response) => response.writeHead(405).end()));
    proxy.on('connect', (request, socket) => {
      asked.push(request.url);
      const upstream = net.connect(portOf(model), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [upstream, socket]) end.on('error', () => upstream.destroy());
    });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`, SSL_CERT_FILE: authority };
    const end = await runAgainst('models.example', env);
    expect({ code: end.code, message: end.result?.message, asked }).toEqual({
      code: 0,
      message: 'Nothing to do.',
      asked: ['models.example:443'],
    });
  });
});
