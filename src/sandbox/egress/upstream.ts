import { request } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { codeOf } from '../../errors.ts';
import { type RequestTarget, renderTarget } from './request-target.ts';

/** Another proxy on the way out, as `HTTPS_PROXY` and `HTTP_PROXY` of belay's own environment name it. */
export interface UpstreamProxy {
  url: URL;
}

export type Connected = { kind: 'connected'; socket: Socket } | { kind: 'failed'; reason: string };

const CONNECT_TIME_MS = 20_000;
/** Of one address, where there is another one to try. */
const ATTEMPT_TIME_MS = 2_500;

/** Connects to one of these addresses and to no other, whatever the name would resolve to by now. */
export async function connectPinned(addresses: readonly string[], port: number): Promise<Connected> {
  const pinned: LookupFunction = (_name, options, callback) => {
    const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (options.all === true) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family);
  };
  // The name is only what `lookup` is asked: a literal address would go by it.
  return settled(
    connect({
      host: 'pinned.invalid',
      port,
      lookup: pinned,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_TIME_MS,
    }),
  );
}

/** Asks the other proxy for a tunnel; it resolves the name. */
export async function connectThrough(proxy: UpstreamProxy, target: RequestTarget): Promise<Connected> {
  const opened = await openProxy(proxy);
  if (opened.kind === 'failed') return opened;
  const authority = renderTarget(target);
  return new Promise((resolve) => {
    const asked = request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...authorizationOf(proxy) },
      createConnection: () => opened.socket,
      timeout: CONNECT_TIME_MS,
    });
    const fail = (reason: string): void => {
      opened.socket.destroy();
      resolve({ kind: 'failed', reason });
    };
    asked.once('connect', ({ statusCode }, socket, head: Buffer) => {
      if (statusCode !== 200) return fail(`the proxy on the way out answered ${statusCode ?? 'nothing'}`);
      if (head.length > 0) socket.unshift(head);
      resolve({ kind: 'connected', socket: opened.socket });
    });
    asked.once('response', ({ statusCode }) => fail(`the proxy on the way out answered ${statusCode ?? 'nothing'}`));
    asked.once('timeout', () => fail('the proxy on the way out did not answer in time'));
    asked.once('error', (error) => fail(`the proxy on the way out failed: ${codeOf(error) ?? error.message}`));
    asked.end();
  });
}

/** A connection to the proxy itself, for a plain request that it forwards. */
export async function openProxy({ url }: UpstreamProxy): Promise<Connected> {
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (isSecure ? 443 : 80));
  return settled(isSecure ? connectTls({ host, port, servername: host }) : connect({ host, port }));
}

export function authorizationOf({ url }: UpstreamProxy): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function settled(socket: Socket): Promise<Connected> {
  return new Promise((resolve) => {
    const fail = (reason: string): void => {
      socket.destroy();
      resolve({ kind: 'failed', reason });
    };
    const onError = (error: Error): void => fail(`it cannot be connected to (${codeOf(error) ?? error.message})`);
    const onTimeout = (): void => fail('it cannot be connected to in time');
    const ready = 'encrypted' in socket ? 'secureConnect' : 'connect';
    socket.setTimeout(CONNECT_TIME_MS, onTimeout);
    socket.once('error', onError);
    socket.once(ready, () => {
      socket.setTimeout(0);
      socket.off('timeout', onTimeout).off('error', onError);
      resolve({ kind: 'connected', socket });
    });
  });
}
