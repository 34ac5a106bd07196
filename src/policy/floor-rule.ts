import { isDeepStrictEqual } from 'node:util';
import type { Policy } from './policy.ts';
import type { PolicyKey } from './policy-origins.ts';

export interface FloorRule {
  key: PolicyKey;
  /** The policy made as strict as the floor in this key; null when the repository states (`stated`) something looser. */
  tighten(own: Policy, floor: Policy, stated: boolean): Policy | null;
}

export type Merge<Value> = (own: Value, floor: Value, stated: boolean) => Value | null;

/** A key whose value is a part of the policy: `part` reads it, `merge` decides, `put` writes it. */
export function rule<Value>(
  key: PolicyKey,
  part: (policy: Policy) => Value,
  put: (policy: Policy, value: Value) => Policy,
  merge: Merge<Value>,
): FloorRule {
  return {
    key,
    tighten(own, floor, stated) {
      const before = part(own);
      const after = merge(before, part(floor), stated);
      if (after === null) return null;
      return isDeepStrictEqual(before, after) ? own : put(own, after);
    },
  };
}

export const atMost: Merge<number> = (own, floor, stated) => (own <= floor ? own : stated ? null : floor);

/** Names from the loosest to the strictest. */
export function order<Name>(...names: readonly Name[]): Merge<Name> {
  return (own, floor, stated) => (names.indexOf(own) >= names.indexOf(floor) ? own : stated ? null : floor);
}

/** A list that allows: no entry beyond the floor's. */
export const within: Merge<readonly string[]> = (own, floor, stated) => {
  const kept = own.filter((entry) => floor.includes(entry));
  return kept.length === own.length || !stated ? kept : null;
};

/** A list that forbids and adds to what is forbidden anyway: both together. */
export function union<Entry>(own: readonly Entry[], floor: readonly Entry[]): readonly Entry[] {
  return [...floor, ...own.filter((entry) => !floor.some((other) => isDeepStrictEqual(other, entry)))];
}

/** A list that forbids and stands in place of a default: it must have all that the floor's has, and take nothing out of it. */
export const covers: Merge<readonly string[]> = (own, floor, stated) => {
  const takesOut = own.some((entry) => entry.startsWith('!') && !floor.includes(entry));
  if (!takesOut && floor.every((entry) => own.includes(entry))) return own;
  return stated ? null : union(own, floor);
};

/** No value is stricter than another: it has to be the floor's. */
export function asFloor<Value>(own: Value, floor: Value, stated: boolean): Value | null {
  return isDeepStrictEqual(own, floor) ? own : stated ? null : floor;
}
