import { BlockList, isIPv6 } from 'node:net';

/** IANA's special-purpose registries, and what clouds answer machines with; https://www.iana.org/assignments/iana-ipv4-special-registry */
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  // The whole of 0/8: Linux takes 0.0.0.0 for this machine.
  unspecified: ['0.0.0.0/8', '::/128'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'carrier-grade NAT': ['100.64.0.0/10'],
  // Azure's platform, reachable from every machine there.
  metadata: ['168.63.129.16/32'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  reserved: [
    ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
    ...['240.0.0.0/4', '::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '3fff::/20', '5f00::/16'],
  ],
};

const LISTS = Object.entries(CLASSES).map(([name, ranges]) => ({ name, list: listOf(ranges) }));

/** IPv6 ranges that carry an IPv4 address: where its 32 bits begin. */
const CARRIERS = [
  { list: listOf(['64:ff9b::/96']), group: 6 },
  { list: listOf(['2002::/16']), group: 1 },
];

/** What kind of address this is that the public internet does not have; null: it is a public one. Expects a canonical address. */
export function specialClassOf(address: string): string | null {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const found = LISTS.find(({ list }) => list.check(address, family));
  if (found !== undefined) return found.name;
  const carrier = family === 'ipv6' ? CARRIERS.find(({ list }) => list.check(address, family)) : undefined;
  return carrier === undefined ? null : specialClassOf(carried(address, carrier.group));
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  return list;
}

function carried(address: string, group: number): string {
  const groups = expand(address);
  const [high = 0, low = 0] = groups.slice(group, group + 2);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of a canonical IPv6 address (no dotted part). */
function expand(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const groupsOf = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}
