import { type Dispatcher, fetch, ProxyAgent } from 'undici';

export interface ProxyClient {
  host: string;
  fetch: typeof fetch;
  dispatcher: Dispatcher;
}

/** A file of its own, loaded on demand: of a CommonJS package that is imported by itself, the bundle has the default export alone. */
export function openProxy(proxy: string, ca: readonly string[] | undefined): ProxyClient {
  const secure = ca ? { ca: [...ca] } : {};
  // The idle time of a request is the policy's and is watched by the model; undici's own would cut at 5 minutes.
  const dispatcher = new ProxyAgent({
    uri: proxy,
    headersTimeout: 0,
    bodyTimeout: 0,
    requestTls: secure,
    proxyTls: secure,
  });
  return { host: new URL(proxy).host, fetch, dispatcher };
}
