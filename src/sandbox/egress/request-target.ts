import { type Host, parseHost } from '../../policy/index.ts';

/** What a client of the proxy asks for. */
export interface RequestTarget {
  host: Host;
  port: number;
}

export interface ForwardTarget extends RequestTarget {
  /** Path and query, for the server alone. */
  path: string;
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/;
const HTTP_PORT = 80;

/** The target of CONNECT: a host and a port, both said. */
export function parseConnectTarget(text: string): RequestTarget | null {
  return parseAuthority(text, null);
}

/** The target of any other method: an absolute `http://` URL. Its user and password would have to be dropped, so it must have none. */
export function parseForwardTarget(text: string): ForwardTarget | null {
  const [, authority = '', rest = ''] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(text) ?? [];
  const target = parseAuthority(authority, HTTP_PORT);
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return target === null || !/^[\x21-\x7e]*$/.test(path) ? null : { ...target, path };
}

/** `host:port` as a URL has it. */
export function renderTarget({ host, port }: RequestTarget): string {
  return `${host.text.includes(':') ? `[${host.text}]` : host.text}:${port}`;
}

function parseAuthority(text: string, defaultPort: number | null): RequestTarget | null {
  const [, name = '', digits] = AUTHORITY.exec(text) ?? [];
  const host = parseHost(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === null || port === null || port < 1 || port > 65_535 ? null : { host, port };
}
