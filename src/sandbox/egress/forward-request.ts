import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type ForwardTarget, renderTarget } from './request-target.ts';

/** RFC 9110 7.6.1: they speak of one connection, not of the request. */
const OF_THE_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'http2-settings'],
]);

interface ForwardOptions {
  incoming: IncomingMessage;
  answer: ServerResponse;
  target: ForwardTarget;
  socket: Socket;
  /** For another proxy on the way: the whole URL in place of the path, and its authorization. */
  through: Record<string, string> | null;
  onFailed(): void;
}

/** Sends a plain request on, and its answer back, with nothing of either kept in memory. */
export function forwardRequest({ incoming, answer, target, socket, through, onFailed }: ForwardOptions): void {
  const authority = target.port === 80 ? renderTarget(target).replace(/:80$/, '') : renderTarget(target);
  const outgoing = request({
    method: incoming.method ?? 'GET',
    path: through === null ? target.path : `http://${authority}${target.path}`,
    headers: { ...endToEnd(incoming.rawHeaders, ['host']), ...bodyOf(incoming), ...through, host: authority },
    createConnection: () => socket,
  });
  outgoing.once('response', (response) => {
    const status = response.statusCode ?? 502;
    try {
      answer.writeHead(status, response.statusMessage ?? '', endToEnd(response.rawHeaders, []));
    } catch (error) {
      // A server's header that HTTP does not allow.
      if (!(error instanceof TypeError)) throw error;
      outgoing.destroy();
      return onFailed();
    }
    pipeline(response, answer, () => socket.destroy());
  });
  outgoing.once('error', () => {
    socket.destroy();
    if (answer.headersSent) answer.destroy();
    else onFailed();
  });
  answer.once('close', () => socket.destroy());
  pipeline(incoming, outgoing, () => undefined);
}

/** Headers with all their values, without those of the connection, those that `Connection` names, and `others`. */
function endToEnd(raw: readonly string[], others: readonly string[]): Record<string, string[]> {
  const pairs = Array.from(
    { length: raw.length / 2 },
    (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? ''] as const,
  );
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
  const headers: Record<string, string[]> = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    if (OF_THE_CONNECTION.has(key) || named.includes(key) || others.includes(key)) continue;
    headers[key] = [...(headers[key] ?? []), value];
  }
  return headers;
}

/** A body of unknown length stays one; without a word of it, a `GET` has none. */
function bodyOf({ headers }: IncomingMessage): Record<string, string> {
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
}
