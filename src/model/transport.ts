import { readFile } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import { type SendOptions, sendHttp } from './http-fetch.ts';
import { HttpHeaders } from './http-headers.ts';
import type { ProxyClient } from './open-proxy.ts';
import { type Environment, proxyFor } from './proxy.ts';
import { TransportError } from './transport-error.ts';
import { createWatchedBody } from './watched-body.ts';

/** belay's own network: what model providers are reached through. */
export interface Transport {
  fetch: typeof globalThis.fetch;
  /** Calls `onBytes` whenever something comes in for a request made with `signal`, comments and pings included. */
  watch(signal: AbortSignal, onBytes: () => void): void;
}

/** Reads the proxy and certificate variables of `env`; the proxy client is loaded with the first request that needs it. */
export async function createTransport(env: Environment): Promise<Transport> {
  const watches = new WeakMap<AbortSignal, () => void>();
  const proxies = new Map<string, Promise<ProxyClient>>();
  const ca = await loadAuthorities(env);
  return {
    watch: (signal, onBytes) => watches.set(signal, onBytes),
    async fetch(input, init = {}) {
      const { body } = init;
      if (
        (typeof input !== 'string' && !(input instanceof URL)) ||
        !(body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array)
      ) {
        throw new TypeError('only plain requests with a text or bytes body are supported');
      }
      const url = new URL(input);
      const signal = init.signal ?? undefined;
      const options: SendOptions = {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new HttpHeaders(init.headers)),
        body: body ?? undefined,
        signal,
        onBytes: () => (signal === undefined ? undefined : watches.get(signal)?.()),
        ca,
      };
      const proxy = proxyFor(url, env);
      if (proxy === null) return sendHttp(url, options);
      const client = proxies.get(proxy) ?? loadProxyClient(proxy, ca);
      proxies.set(proxy, client);
      return sendThroughProxy(url, await client, options);
    },
  };
}

async function loadProxyClient(proxy: string, ca: readonly string[] | undefined): Promise<ProxyClient> {
  const { openProxy } = await import('./open-proxy.ts');
  return openProxy(proxy, ca);
}

async function sendThroughProxy(url: URL, proxy: ProxyClient, options: SendOptions): Promise<Response> {
  const { method, headers, body, signal } = options;
  try {
    const response = await proxy.fetch(url, {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
      dispatcher: proxy.dispatcher,
      redirect: 'manual',
    });
    options.onBytes();
    const watched = response.body === null ? null : createWatchedBody(response.body, url.host, options.onBytes);
    return new Response(watched, {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new TransportError(`${url.host} through the proxy ${proxy.host}`, error);
  }
}

/**
 * `SSL_CERT_FILE` adds to Node's list. `NODE_EXTRA_CA_CERTS` is read by Node itself, but not where a list is given, so it is
 * added to that one.
 */
async function loadAuthorities(env: Environment): Promise<string[] | undefined> {
  const file = env['SSL_CERT_FILE'];
  if (file === undefined || file === '') return undefined;
  const extra = env['NODE_EXTRA_CA_CERTS'];
  const own = extra === undefined || extra === '' ? [] : [await readAuthority('NODE_EXTRA_CA_CERTS', extra)];
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, ...own, await readAuthority('SSL_CERT_FILE', file)];
}

async function readAuthority(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${name} names ${file}, which cannot be read`, { code: 'certificates', cause });
  }
}
