import { type Host, parseHost } from './parse-host.ts';

/** One entry of `network.allow`. */
export interface HostRule {
  /** As the policy has it. */
  written: string;
  host: Host;
  /** Any name below `host`, not itself. */
  below: boolean;
  ports: readonly number[];
}

/** Decides what a list of hosts lets through. */
export interface HostList {
  /** The first entry that names this host and port, as written; null: none does. */
  ruleFor(host: Host, port: number): string | null;
}

const DEFAULT_PORTS: readonly number[] = [80, 443];
const ENTRY = /^(\*\.)?(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/;

/** null: it is no entry of such a list. */
export function parseHostRule(written: string): HostRule | null {
  const [, wildcard, name = '', port] = ENTRY.exec(written) ?? [];
  const host = parseHost(name);
  const below = wildcard !== undefined;
  if (host === null || (below && host.kind === 'address')) return null;
  const ports = port === undefined ? DEFAULT_PORTS : [Number(port)];
  return ports.every((one) => one >= 1 && one <= 65_535) ? { written, host, below, ports } : null;
}

/** Entries are those of a validated policy: one that is none names nothing. */
export function createHostList(entries: readonly string[]): HostList {
  const rules = entries.map(parseHostRule).filter((rule) => rule !== null);
  return { ruleFor: (host, port) => rules.find((rule) => names(rule, host, port))?.written ?? null };
}

/** Whether every host and port of `inner` is one of `outer` too. */
export function coversEntry(outer: string, inner: string): boolean {
  const [wide, narrow] = [parseHostRule(outer), parseHostRule(inner)];
  if (wide === null || narrow === null) return outer === inner;
  const isBelow = wide.below && narrow.host.text.endsWith(`.${wide.host.text}`);
  const isSame = wide.host.text === narrow.host.text && wide.below === narrow.below;
  return (isSame || isBelow) && narrow.ports.every((port) => wide.ports.includes(port));
}

function names({ host, below, ports }: HostRule, asked: Host, port: number): boolean {
  if (!ports.includes(port) || host.kind !== asked.kind) return false;
  return below ? asked.text.endsWith(`.${host.text}`) : asked.text === host.text;
}
