import { type Host, parseHost } from './parse-host.ts';

/** One entry of `sandbox.services`. */
export interface HostPort {
  host: Host;
  port: number;
}

const ENTRY = /^(\[[^\]]*\]|[^:[\]]+):(\d{1,5})$/;
const LOWEST_PORT = 1024;

/** `host:port`, IPv6 in brackets; null: it is not one. */
export function parseHostPort(written: string): HostPort | null {
  const [, name = '', digits = ''] = ENTRY.exec(written) ?? [];
  const host = parseHost(name);
  const port = Number(digits);
  return host === null || port < 1 || port > 65_535 ? null : { host, port };
}

/** Why it cannot be an entry of `sandbox.services`: inside, a port is opened by a program without privileges on an address of its own. */
export function hostPortFault(written: string): string | null {
  const parsed = parseHostPort(written);
  if (parsed === null) return 'expected host:port, like 127.0.0.1:5432';
  if (parsed.port < LOWEST_PORT)
    return `expected a port from ${LOWEST_PORT} to 65535: lower ones cannot be opened inside`;
  const { kind, text } = parsed.host;
  if (kind === 'name' || text === '::1' || text.startsWith('127.')) return null;
  return 'expected a name or a loopback address: another address does not exist inside; give it a name in /etc/hosts';
}
