import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NetworkDecision, Resolve } from '../../src/sandbox/egress/decide-target.ts';
import { createEgressProxy } from '../../src/sandbox/egress/egress-proxy.ts';
import type { UpstreamProxy } from '../../src/sandbox/egress/upstream.ts';

export interface ProxyBench {
  dir: string;
  decisions: NetworkDecision[];
  /** Names that were looked up. */
  asked: string[];
  connect(): Socket;
  /** Sends these bytes and reads to the end. */
  say(bytes: string | Buffer): Promise<string>;
  close(): Promise<void>;
}

interface BenchOptions {
  allow: readonly string[];
  names?: Readonly<Record<string, readonly string[]>>;
  upstream?: UpstreamProxy;
}

/** A proxy whose names resolve as the test says. */
export async function openProxyBench({ allow, names = {}, upstream }: BenchOptions): Promise<ProxyBench> {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'belay-egress-')));
  const socketPath = path.join(dir, randomUUID().slice(0, 8));
  const decisions: NetworkDecision[] = [];
  const asked: string[] = [];
  const resolve: Resolve = async (name) => {
    asked.push(name);
    const found = names[name];
    if (found === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return found;
  };
  const proxy = await createEgressProxy({
    socketPath,
    allow,
    resolve,
    upstreamFor: () => upstream ?? null,
    onDecision: (decision) => decisions.push(decision),
  });
  return {
    dir,
    decisions,
    asked,
    connect: () => connect(socketPath),
    async say(bytes) {
      const socket = connect(socketPath);
      socket.write(bytes);
      return readAll(socket);
    },
    async close() {
      await proxy.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What comes until the other side has ended, or broken off. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => socket.destroy());
  await new Promise<void>((resolve) => {
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve());
  });
  return Buffer.concat(chunks).toString('latin1');
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A server that sends back what it gets. */
export async function openEcho(): Promise<{ port: number; connections(): number; close(): void }> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  const port = await listen(server);
  return { port, connections: () => count, close: () => void server.close() };
}
