import type { Socket } from 'node:net';
import { listenAt, type SocketFile } from './join-sockets.ts';

/** Connections that a fence keeps open to belay, so that belay can reach the ports of its loopback. */
export interface LentConnections extends SocketFile {
  /** A connection to that port of the fence; it ends at once where nothing listens there. */
  take(port: number): Promise<Socket>;
}

/**
 * The fence connects out, never belay in: what listens in a folder that a command may write could be a link to any socket of the
 * machine.
 */
export async function createLentConnections(socketPath: string): Promise<LentConnections> {
  const idle: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];
  const file = await listenAt(socketPath, (socket) => {
    const next = waiting.shift();
    if (next !== undefined) {
      next(socket);
      return;
    }
    idle.push(socket);
    // Read, so that its end is seen; it has nothing to say before it is asked.
    socket.once('close', () => {
      const at = idle.indexOf(socket);
      if (at >= 0) idle.splice(at, 1);
    });
  });
  return {
    async take(port) {
      const socket = idle.shift() ?? (await new Promise<Socket>((resolve) => waiting.push(resolve)));
      socket.write(`${port}\n`);
      return socket;
    },
    close: () => file.close(),
  };
}
