import type { PolicyFile } from './policy-file.ts';
import { type PolicyText, pathKey, type TextFault } from './policy-text.ts';
import { printable } from './printable.ts';

/** Patterns of checks that RE2 does not take. The library is loaded only when a policy has a pattern. */
export async function patternFaults(file: PolicyFile, text: PolicyText): Promise<readonly TextFault[]> {
  const patterns = (file.verify?.checks ?? []).flatMap((check, index) =>
    check.expect?.matches === undefined
      ? []
      : [{ pattern: check.expect.matches, path: ['verify', 'checks', index, 'expect', 'matches'] }],
  );
  if (patterns.length === 0) return [];
  const { RE2JS, RE2JSException } = await import('re2js');
  return patterns.flatMap(({ pattern, path }) => {
    try {
      RE2JS.compile(pattern);
      return [];
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      return [
        {
          offset: text.places.get(pathKey(path))?.value ?? 0,
          message: `not an RE2 pattern: ${printable(error.message, 200)}; expected RE2 syntax`,
        },
      ];
    }
  });
}
