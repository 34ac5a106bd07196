import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { parseHost } from '../../policy/index.ts';
import { createTargetRules, type NetworkDecision, type Resolve, type TargetDecision } from './decide-target.ts';
import { forwardRequest } from './forward-request.ts';
import { parseConnectTarget, parseForwardTarget, type RequestTarget, renderTarget } from './request-target.ts';
import { openTunnel } from './tunnel.ts';
import {
  authorizationOf,
  type Connected,
  connectPinned,
  connectThrough,
  openProxy,
  type UpstreamProxy,
} from './upstream.ts';

export interface EgressProxyOptions {
  /** Where it listens; nobody else may be able to guess it. */
  socketPath: string;
  /** Entries of `network.allow`. */
  allow: readonly string[];
  resolve: Resolve;
  /** The proxy that stands between this machine and the target; null: none. */
  upstreamFor(url: URL): UpstreamProxy | null;
  onDecision(decision: NetworkDecision): void;
}

export interface EgressProxy {
  /** Ends every connection. */
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 256;
const MOST_HEADER_BYTES = 16 * 1024;
const HEADERS_TIME_MS = 10_000;
const IDLE_TIME_MS = 10 * 60_000;
const MOST_TOLD_CHARACTERS = 100;

/** The one way out of a fence: CONNECT and plain `http://` requests to hosts of the list, each decided and told. */
export async function createEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const rules = createTargetRules(options.allow, options.resolve);
  const sockets = new Set<Duplex>();
  const keep = <S extends Duplex>(socket: S): S => {
    sockets.add(socket);
    // A side that goes away is told by `close`; what it said about it is of no use here.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  /** Decides, and connects where it may; the answer's text is for the client. */
  async function open(
    target: RequestTarget,
    reach: (proxy: UpstreamProxy | null, addresses: readonly string[]) => Promise<Connected>,
  ): Promise<Connected | { kind: 'refused'; reason: string }> {
    const url = new URL(`${target.port === 80 ? 'http' : 'https'}://${renderTarget(target)}/`);
    const proxy = options.upstreamFor(url);
    const end: TargetDecision = await rules.decide(target, proxy === null);
    options.onDecision(end.decision);
    if (end.kind === 'refused') return { kind: 'refused', reason: end.decision.reason };
    if (end.kind === 'unresolved') return { kind: 'failed', reason: end.reason };
    const connected = await reach(proxy, end.addresses ?? []);
    if (connected.kind === 'connected')
      keep(connected.socket).setTimeout(IDLE_TIME_MS, () => connected.socket.destroy());
    return connected;
  }

  function tellMalformed(text: string): void {
    const host = text.slice(0, MOST_TOLD_CHARACTERS).replace(/[/?#].*$/s, '');
    options.onDecision({
      allowed: false,
      host,
      port: null,
      rule: 'network.allow',
      reason: 'it names no host and port',
    });
  }

  async function onConnect(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const target = parseConnectTarget(request.url ?? '');
    if (target === null) {
      tellMalformed(request.url ?? '');
      return answerRaw(client, 400, 'CONNECT needs host:port');
    }
    const opened = await open(target, (proxy, addresses) =>
      proxy === null ? connectPinned(addresses, target.port) : connectThrough(proxy, target),
    );
    if (opened.kind !== 'connected') return answerRaw(client, statusOf(opened), sentence(target, opened));
    const server = opened.socket;
    // What the server said last may still be on its way to the client.
    server.once('close', (hadError) => (hadError ? client.destroy() : client.end()));
    client.once('close', () => server.destroy());
    if (client.destroyed) return void server.destroy();
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    openTunnel({
      client,
      server,
      head,
      mayName(serverName) {
        const host = parseHost(serverName);
        if (target.host.kind === 'address' || host?.text === target.host.text) return true;
        return host !== null && rules.names({ host, port: target.port });
      },
      onRefused: (serverName) =>
        options.onDecision({
          allowed: false,
          host: parseHost(serverName)?.text ?? target.host.text,
          port: target.port,
          rule: 'network.allow',
          reason: `TLS names another server than ${target.host.text}`,
        }),
    });
  }

  async function onRequest(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const written = incoming.url ?? '';
    const target = parseForwardTarget(written);
    if (target === null) {
      if (written.startsWith('/')) return answerText(answer, 400, 'this is a proxy: ask for a whole http:// URL');
      tellMalformed(written.replace(/^[a-z]*:\/\//i, ''));
      return answerText(
        answer,
        400,
        'a request has to be for a whole http:// URL without a user; use CONNECT for others',
      );
    }
    let through: Record<string, string> | null = null;
    const opened = await open(target, (proxy, addresses) => {
      through = proxy === null ? null : authorizationOf(proxy);
      return proxy === null ? connectPinned(addresses, target.port) : openProxy(proxy);
    });
    if (opened.kind !== 'connected') return answerText(answer, statusOf(opened), sentence(target, opened));
    const onFailed = (): void => answerText(answer, 502, `${renderTarget(target)} gave no proper answer`);
    if (answer.destroyed) return void opened.socket.destroy();
    forwardRequest({ incoming, answer, target, socket: opened.socket, through, onFailed });
  }

  const server = createServer({ maxHeaderSize: MOST_HEADER_BYTES, headersTimeout: HEADERS_TIME_MS, requestTimeout: 0 });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket) => keep(socket).setTimeout(IDLE_TIME_MS, () => socket.destroy()));
  server.on('connect', (request, client: Socket, head) => void onConnect(request, client, head));
  server.on('request', (incoming, answer) => void onRequest(incoming, answer));
  server.on('clientError', (_error, socket: Socket) => answerRaw(socket, 400, 'this is no proper HTTP request'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.socketPath, resolve);
  });
  // Commands may run as another user; the folder keeps everybody else out.
  chmodSync(options.socketPath, 0o666);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

type Unopened = { kind: 'failed' | 'refused'; reason: string };

function statusOf({ kind }: Unopened): number {
  return kind === 'refused' ? 403 : 502;
}

function sentence(target: RequestTarget, { kind, reason }: Unopened): string {
  return `${renderTarget(target)} ${kind === 'refused' ? 'is not allowed by the policy' : 'is allowed, but out of reach'}: ${reason}`;
}

const WORDS: Readonly<Record<number, string>> = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' };

function answerRaw(socket: Socket, status: number, text: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = `belay: ${text}\n`;
  const head = `HTTP/1.1 ${status} ${WORDS[status] ?? ''}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`, () => socket.destroy());
}

function answerText(answer: ServerResponse, status: number, text: string): void {
  answer.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`belay: ${text}\n`);
}
