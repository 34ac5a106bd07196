import { codeOf } from '../../errors.ts';
import { createHostList, type HostList, parseAddress } from '../../policy/index.ts';
import { specialClassOf } from './address-class.ts';
import type { RequestTarget } from './request-target.ts';

/** One decision on a connection, as it is told: never a path. */
export interface NetworkDecision {
  allowed: boolean;
  /** Canonical; what the client wrote, cut, where that is no host. */
  host: string;
  /** null where the client named none. */
  port: number | null;
  /** The entry of the policy that lets it through, or `network.allow` where none does. */
  rule: string;
  /** One sentence; of what is allowed, that it is. */
  reason: string;
}

/** Addresses of a name, as the resolver has them. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type TargetDecision =
  | { kind: 'refused'; decision: NetworkDecision }
  /** `addresses`: the only ones to connect to; null: whoever connects resolves. `unresolved`: the name has none. */
  | { kind: 'allowed'; decision: NetworkDecision; addresses: readonly string[] | null }
  | { kind: 'unresolved'; decision: NetworkDecision; reason: string };

export interface TargetRules {
  decide(target: RequestTarget, resolves: boolean): Promise<TargetDecision>;
  /** Whether the list names the host, whatever its addresses. */
  names(target: RequestTarget): boolean;
}

const LIST = 'network.allow';

/**
 * The allow list put to work. Names are resolved here, and what they resolve to is judged: an address that the public internet does
 * not have is reached only where the list names it, with its port, itself.
 */
export function createTargetRules(entries: readonly string[], resolve: Resolve): TargetRules {
  const list = createHostList(entries);
  return {
    names: ({ host, port }) => list.ruleFor(host, port) !== null,
    async decide(target, resolves) {
      const { host, port } = target;
      const rule = list.ruleFor(host, port);
      if (rule === null) return refuse(target, LIST, reasonOf(target, list));
      const decision: NetworkDecision = { allowed: true, host: host.text, port, rule, reason: 'the list names it' };
      if (host.kind === 'address') return { kind: 'allowed', decision, addresses: [host.text] };
      if (!resolves) return { kind: 'allowed', decision, addresses: null };
      const found = await addressesOf(host.text, resolve);
      if (typeof found === 'string') return { kind: 'unresolved', decision, reason: found };
      const reachable = found.filter((address) => isReachable(address, port, list));
      if (reachable.length > 0) return { kind: 'allowed', decision, addresses: reachable };
      const kind = found.map(specialClassOf).find((one) => one !== null) ?? 'unknown';
      return refuse(target, rule, `it resolves to a ${kind} address, which the list does not name itself`);
    },
  };
}

function refuse({ host, port }: RequestTarget, rule: string, reason: string): TargetDecision {
  return { kind: 'refused', decision: { allowed: false, host: host.text, port, rule, reason } };
}

function reasonOf({ host, port }: RequestTarget, list: HostList): string {
  if (host.kind === 'address') return 'addresses are reached only where the list names them';
  return list.ruleFor(host, 443) !== null || list.ruleFor(host, 80) !== null
    ? `the list names the host, but not port ${port}`
    : 'no entry of the list names it';
}

/** Canonical addresses, or why there are none. */
async function addressesOf(name: string, resolve: Resolve): Promise<readonly string[] | string> {
  try {
    const found = (await resolve(name)).flatMap((address) => parseAddress(address)?.text ?? []);
    return found.length > 0 ? found : 'it has no address';
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    return `it cannot be resolved (${code})`;
  }
}

function isReachable(address: string, port: number, list: HostList): boolean {
  return specialClassOf(address) === null || list.ruleFor({ kind: 'address', text: address }, port) !== null;
}
