import { proxyFor } from '../../model/index.ts';
import type { UpstreamProxy } from './upstream.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that belay's own environment names for a URL; null: none. */
export function outwardProxy(url: URL, env: Environment): UpstreamProxy | null {
  const named = proxyFor(url, env);
  return named === null ? null : { url: new URL(named) };
}

/** Why what the environment names cannot be used; null when it can. Never with the text of the value: it may hold a password. */
export function outwardProxyFault(env: Environment): string | null {
  for (const scheme of ['https', 'http']) {
    const named = proxyFor(new URL(`${scheme}://host.invalid/`), env);
    if (named === null) continue;
    const protocol = URL.canParse(named) ? new URL(named).protocol : null;
    if (protocol === 'http:' || protocol === 'https:') continue;
    const found = protocol === null ? 'no address' : `a ${protocol.slice(0, -1)} proxy`;
    return `The environment of belay names ${found} for ${scheme} requests: commands can be led only through one that begins with http:// or https://.`;
  }
  return null;
}
