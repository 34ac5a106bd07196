import type { LoadedPolicy, NetworkAccess, Policy } from './policy.ts';

export interface UnsupportedKey {
  /** Dotted, as in the file. */
  key: string;
  /** `FILE:LINE:COLUMN`; null when the value is not from a file. */
  position: string | null;
  reason: string;
}

const allowsHosts = (network: NetworkAccess | null) => network?.mode === 'allow';
const entries = (count: number, key: string) => Array.from({ length: count }, (_, index) => `${key}.${index}`);

/** One row for each mechanism that this version lacks: the keys of a policy that ask for it. Delete a row when it is there. */
const MISSING: readonly { reason: string; keys(policy: Policy): readonly string[] }[] = [
  {
    reason: 'a network allow list is not implemented in this version; only `network: none` is',
    keys: ({ sandbox, setup, verify }) => [
      ...(allowsHosts(sandbox.network) ? ['sandbox.network'] : []),
      ...entries(setup.length, 'setup')
        .filter((_, index) => allowsHosts(setup[index]?.network ?? null))
        .map((key) => `${key}.network`),
      ...entries(verify.checks.length, 'verify.checks')
        .filter((_, index) => allowsHosts(verify.checks[index]?.network ?? null))
        .map((key) => `${key}.network`),
    ],
  },
  {
    reason: 'reaching ports of the host is not implemented in this version',
    keys: ({ sandbox }) => (sandbox.services.length > 0 ? ['sandbox.services'] : []),
  },
  {
    reason: 'services are not implemented in this version',
    keys: ({ services }) => (services.length > 0 ? ['services'] : []),
  },
  {
    reason: 'MCP servers are not implemented in this version',
    keys: ({ mcp }) => (Object.keys(mcp).length > 0 ? ['mcp'] : []),
  },
  {
    reason: 'plugins are not implemented in this version',
    keys: ({ plugins }) => (plugins.length > 0 ? ['plugins'] : []),
  },
];

/** Keys whose mechanism this version lacks: `run` answers with a usage error, never by ignoring them. */
export function unsupportedKeys(loaded: LoadedPolicy): readonly UnsupportedKey[] {
  return MISSING.flatMap(({ reason, keys }) =>
    keys(loaded.policy)
      // a step without a network of its own has the sandbox's, which is named already
      .filter((key) => key === 'sandbox.network' || !/\.network$/.test(key) || isStated(loaded, key))
      .map((key) => {
        const origin = loaded.origins.get(key);
        return { key, position: origin === undefined || origin === 'default' ? null : origin, reason };
      }),
  );
}

/** A key with a default has an origin all the same. */
function isStated({ origins }: LoadedPolicy, key: string): boolean {
  return (origins.get(key) ?? 'default') !== 'default';
}
