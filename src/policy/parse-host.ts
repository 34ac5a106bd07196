import { isIPv4, isIPv6 } from 'node:net';

/** A host in its one spelling: names in lower-case ASCII without the last dot, addresses as the kernel would write them. */
export interface Host {
  kind: 'name' | 'address';
  text: string;
}

const MOST_CHARACTERS = 255;
/** What the URL parser would drop, decode or take for a boundary. */
const FORBIDDEN = /[\p{Cc}\p{Z}/?#@\\%:[\]<>^|"`{}]/u;
const NAME = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/**
 * Reads a host as a URL has it (IPv6 in brackets), by the rules of the WHATWG URL standard: an address in decimal, octal, hexadecimal
 * or with fewer parts, in other digits or as IPv4 within IPv6, is that address. null: it is no host.
 */
export function parseHost(written: string): Host | null {
  if (written.length > MOST_CHARACTERS) return null;
  const inner = /^\[([0-9A-Fa-f:.]+)\]$/.exec(written)?.[1];
  if (inner === undefined && FORBIDDEN.test(written)) return null;
  if (inner !== undefined && !isIPv6(inner)) return null;
  const url = `http://${written}/`;
  if (written === '' || !URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  if (inner !== undefined) return { kind: 'address', text: withoutMapping(hostname.slice(1, -1)) };
  const text = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (isIPv4(text)) return { kind: 'address', text };
  return NAME.test(text) && text.length <= 253 ? { kind: 'name', text } : null;
}

/** Reads what a resolver answered. */
export function parseAddress(address: string): Host | null {
  return parseHost(isIPv6(address) ? `[${address}]` : address);
}

/** `::ffff:a.b.c.d` reaches the IPv4 address. */
function withoutMapping(address: string): string {
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
