import { isIP } from 'node:net';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL, or null for a direct connection. Like curl: `HTTPS_PROXY`, `HTTP_PROXY`, else `ALL_PROXY`, in either
 * case; `NO_PROXY` holds host names that cover their subdomains, addresses, `host:port` and `*`. Unlike curl, this machine
 * (localhost, 127.0.0.0/8, ::1) is never reached through a proxy.
 */
export function proxyFor(url: URL, env: Environment): string | null {
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const proxy = lookUp(env, `${scheme}_proxy`) ?? lookUp(env, 'all_proxy');
  if (proxy === undefined || isLoopback(url.hostname) || isExempt(url, lookUp(env, 'no_proxy') ?? '')) return null;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}

function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name, entryPort] = /^\[?\.?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const bare = isIP(entry) === 6 ? entry.toLowerCase() : name;
    if (bare === undefined || bare === '' || (isIP(entry) !== 6 && entryPort !== undefined && entryPort !== port))
      return false;
    return host === bare || host.endsWith(`.${bare}`);
  });
}

function lookUp(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}
