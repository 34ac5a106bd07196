import type * as z from 'zod';
import { type PolicyText, pathKey, type TextFault } from './policy-text.ts';
import { printable } from './printable.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What the schema found wrong, each with the place that a person has to go to, first in the file first. */
export function policyFaults(issues: readonly Issue[], text: PolicyText): readonly TextFault[] {
  return issues.flatMap((issue) => faultsOf(issue, [], text)).toSorted((left, right) => left.offset - right.offset);
}

function faultsOf(issue: Issue, parent: Path, text: PolicyText): readonly TextFault[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const hints = issue.message.split('\n');
    return issue.keys.map((key, index) => ({
      offset: placeOf([...path, key], text).key ?? placeOf(path, text).value,
      message: `unknown key ${renderKey([...path, key])}; ${hints[index] ?? ''}`,
    }));
  }
  if (issue.code === 'invalid_union') {
    const branch = closestBranch(issue.errors);
    if (branch !== null) return branch.flatMap((inner) => faultsOf(inner, path, text));
  }
  if (issue.code === 'invalid_key')
    return [
      {
        offset: placeOf(path, text).key ?? placeOf(path, text).value,
        message: `${renderKey(path)}: ${issue.issues[0]?.message ?? issue.message}`,
      },
    ];
  return [
    { offset: offsetOf(path, text), message: `${renderKey(path)} ${renderValue(path, text.value)}; ${issue.message}` },
  ];
}

/** Of a union's branches the one that took the value's kind and complains about something in it. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const inner = branches.filter(
    (issues) => !issues.some((issue) => issue.path.length === 0 && issue.code !== 'unrecognized_keys'),
  );
  return inner[0] ?? null;
}

/** A missing key has no place of its own: the map that lacks it has. */
function offsetOf(path: Path, text: PolicyText): number {
  for (let length = path.length; length > 0; length--) {
    const place = text.places.get(pathKey(path.slice(0, length)));
    if (place === undefined) continue;
    return length === path.length ? place.value : (place.key ?? place.value);
  }
  return placeOf([], text).value;
}

function placeOf(path: Path, text: PolicyText): { key: number | null; value: number } {
  return text.places.get(pathKey(path)) ?? { key: null, value: 0 };
}

/** `verify.checks[0].run` in quotes; the file itself has no name. */
function renderKey(path: Path): string {
  if (path.length === 0) return 'the policy';
  let key = '';
  for (const part of path)
    key += /^\d+$/.test(String(part)) ? `[${String(part)}]` : `${key === '' ? '' : '.'}${String(part)}`;
  return `\`${printable(key, 120)}\``;
}

/** Values that may be a secret put in the wrong place are never repeated. */
const SECRET_PLACE = /^(?:model\.(?:api_key|headers_env|base_url)|.*\.env\b)/;

function renderValue(path: Path, root: unknown): string {
  let value = root;
  for (const part of path)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined;
  if (value === undefined) return 'is missing';
  if (value === null) return 'is empty';
  if (Array.isArray(value)) return 'is a list';
  if (typeof value === 'object') return 'is a map';
  if (SECRET_PLACE.test(path.map(String).join('.'))) return 'is not valid';
  return typeof value === 'string' ? `is "${printable(value, 60)}"` : `is ${String(value)}`;
}
