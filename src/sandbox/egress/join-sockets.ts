import { chmodSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';

/** A socket in a file; everything that came in through it ends with it. */
export interface SocketFile {
  close(): Promise<void>;
}

/** Joins both, each way by itself: one side may say that it has ended and go on reading. */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.once('close', () => (from.readableEnded ? to.end() : to.destroy()));
  }
}

export async function listenAt(socketPath: string, onSocket: (socket: Socket) => void): Promise<SocketFile> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    onSocket(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  // Commands may run as another user; the folder keeps everybody else out.
  chmodSync(socketPath, 0o666);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
