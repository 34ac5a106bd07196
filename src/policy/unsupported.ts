import type { LoadedPolicy, Policy } from './policy.ts';

export interface UnsupportedKey {
  /** Dotted, as in the file. */
  key: string;
  /** `FILE:LINE:COLUMN`; null when the value is not from a file. */
  position: string | null;
  reason: string;
}

/** One row for each mechanism that this version lacks: the keys of a policy that ask for it. Delete a row when it is there. */
const MISSING: readonly { reason: string; keys(policy: Policy): readonly string[] }[] = [
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
    keys(loaded.policy).map((key) => {
      const origin = loaded.origins.get(key);
      return { key, position: origin === undefined || origin === 'default' ? null : origin, reason };
    }),
  );
}
