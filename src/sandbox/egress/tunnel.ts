import type { Socket } from 'node:net';
import { readServerName } from './server-name.ts';

interface TunnelOptions {
  /** The side that begins; what it says first is looked at. */
  client: Socket;
  server: Socket;
  /** What came with the request already. */
  head: Buffer;
  /** Whether the client may speak to a server of this name here. */
  mayName(serverName: string): boolean;
  onRefused(serverName: string): void;
}

/** Most of a first message: a ClientHello is 2 KB, and may be padded. */
const MOST_GREETING_BYTES = 64 * 1024;

/**
 * Joins both sides. A TLS client says whom it wants: another name than the one that was allowed would lead to another site behind the
 * same address (a content network's), so the tunnel ends there. Encrypted names and those within TLS cannot be seen.
 */
export function openTunnel({ client, server, head, mayName, onRefused }: TunnelOptions): void {
  server.pipe(client);
  let greeting = head;
  const pass = (): void => {
    client.off('data', look);
    if (greeting.length > 0) server.write(greeting);
    client.pipe(server);
  };
  const look = (chunk: Buffer): void => {
    greeting = Buffer.concat([greeting, chunk]);
    const read = readServerName(greeting);
    const isAllowed =
      read.kind === 'other' || (read.kind === 'tls' && (read.serverName === null || mayName(read.serverName)));
    if (isAllowed) {
      pass();
      return;
    }
    if (read.kind === 'incomplete' && greeting.length <= MOST_GREETING_BYTES) return;
    onRefused(read.kind === 'tls' ? (read.serverName ?? '') : '');
    client.destroy();
    server.destroy();
  };
  client.on('data', look);
  client.once('end', () => {
    if (client.listeners('data').includes(look)) pass();
    server.end();
  });
  if (head.length > 0) {
    greeting = Buffer.alloc(0);
    look(head);
  }
}
