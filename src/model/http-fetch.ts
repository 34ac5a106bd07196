import http from 'node:http';
import { HttpHeaders } from './http-headers.ts';
import { HttpResponse } from './http-response.ts';
import { TransportError } from './transport-error.ts';
import { createWatchedBody } from './watched-body.ts';

export interface SendOptions {
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  signal: AbortSignal | undefined;
  onBytes(): void;
  /** Certificate authorities beside Node's own, PEM. */
  ca: readonly string[] | undefined;
}

/**
 * One request over node:http. The global `fetch` takes some 30 ms more for its first request and follows redirects; here a
 * redirect is an answer like any other, so that a key never goes to a host that the policy did not name.
 */
export async function sendHttp(url: URL, options: SendOptions): Promise<Response> {
  const { method, headers, body, signal, ca } = options;
  const { request } = url.protocol === 'https:' ? await import('node:https') : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers,
      ...(ca ? { ca: [...ca] } : {}),
    });
    // Not Node's `signal` option: it stays tied to the socket, and a later abort would then kill the next request on it.
    // The same hazard once the answer is there: the request's socket may be another's by then, the response knows.
    let received: http.IncomingMessage | null = null;
    const abort = (): void => {
      if (received !== null) received.destroy();
      else sent.destroy(new DOMException('This operation was aborted', 'AbortError'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    sent.on('close', () => signal?.removeEventListener('abort', abort));
    if (signal?.aborted === true) abort();
    sent.on('response', (response) => {
      received = response;
      options.onBytes();
      resolve(renderResponse(response, url, options));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      reject(signal?.aborted === true ? error : new TransportError(url.host, error));
    });
    sent.end(body);
  });
}

function renderResponse(response: http.IncomingMessage, url: URL, { onBytes }: SendOptions): Response {
  const headers = new HttpHeaders();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  const status = response.statusCode ?? 0;
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) response.resume();
  const body = isEmpty ? null : createWatchedBody(response, url.host, onBytes);
  return new HttpResponse(url, { status, statusText: response.statusMessage ?? '', headers, body });
}
