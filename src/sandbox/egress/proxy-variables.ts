import { parseHost } from '../../policy/index.ts';

/** Inside; every fence has a loopback of its own. Below the ports that the kernel gives out, and not one that servers use. */
export const PROXY_PORT = 17_128;

const OWN_MACHINE = ['localhost', '127.0.0.1', '::1'];

/**
 * What makes programs use the proxy. The fence's own loopback is not asked for through it, unless the list names that spelling of it:
 * then the host's is meant. `services` are names that lead to the fence's loopback.
 */
export function proxyVariables(allow: readonly string[], services: readonly string[]): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const listed = new Set(allow.map((entry) => parseHost(entry.replace(/:\d+$/, ''))?.text));
  const direct = [...OWN_MACHINE.filter((name) => !listed.has(name)), ...services].join(',');
  return {
    ...both('http_proxy', proxy),
    ...both('https_proxy', proxy),
    ...both('all_proxy', proxy),
    ...both('no_proxy', direct),
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: direct,
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    NODE_USE_ENV_PROXY: '1',
  };
}

function both(name: string, value: string): Record<string, string> {
  return { [name]: value, [name.toUpperCase()]: value };
}
