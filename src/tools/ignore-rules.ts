import { createMatcher } from '../policy/index.ts';

interface Rule {
  negated: boolean;
  foldersOnly: boolean;
  matches(path: string): boolean;
}

/** The rules of one `.gitignore`, for paths relative to its folder. `true` ignored, `false` taken in again, null: no rule. */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean | null;

/** More rules than this are not read: an untrusted file must not make each look-up slow. */
const MAX_RULES = 2000;

export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text.split('\n', MAX_RULES).flatMap(parseRule).reverse();
  return (path, isFolder) => {
    const rule = rules.find((one) => (isFolder || !one.foldersOnly) && one.matches(path));
    return rule === undefined ? null : !rule.negated;
  };
}

function parseRule(line: string): Rule[] {
  const text = line.replace(/\r$/u, '').replace(/(?<!\\) +$/u, '');
  const negated = text.startsWith('!');
  const glob = negated ? text.slice(1) : text;
  if (glob.replaceAll('/', '') === '' || text.startsWith('#')) return [];
  const matcher = createMatcher([glob.startsWith('!') ? `\\${glob}` : glob]);
  return [{ negated, foldersOnly: glob.endsWith('/'), matches: (path) => matcher(path) !== null }];
}
