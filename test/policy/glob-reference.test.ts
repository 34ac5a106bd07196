import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMatcher, globFault, literalsOf } from '../../src/policy/index.ts';

/** The rules once more, as plainly as they can be said, at any cost. */
function matchesPlainly(glob: string, path: string): boolean {
  const parts = glob.split('/').filter((part) => part !== '');
  const isAnchored = glob.replace(/\/+$/, '').includes('/');
  return matchSegments([...(isAnchored ? [] : ['**']), ...parts, '**'], path.split('/'));
}

function matchSegments(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '**') return matchSegments(rest, path) || (path.length > 0 && matchSegments(pattern, path.slice(1)));
  const [head, ...tail] = path;
  return head !== undefined && matchText(first, head) && matchSegments(rest, tail);
}

function matchText(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [start = ''] = pattern;
  if (start === '*') return matchText(pattern.slice(1), text) || (text !== '' && matchText(pattern, text.slice(1)));
  if (text === '') return false;
  if (pattern.startsWith('[ab]')) return 'ab'.includes(text[0] ?? '') && matchText(pattern.slice(4), text.slice(1));
  if (pattern.startsWith('[!a]')) return text[0] !== 'a' && matchText(pattern.slice(4), text.slice(1));
  return (start === '?' || start === text[0]) && matchText(pattern.slice(1), text.slice(1));
}

const piece = fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]', '**', '/', '/', '**/');
const glob = fc
  .array(piece, { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.join(''))
  .filter((text) => globFault(text) === null && !text.split('/').includes('.'));
const segment = fc
  .array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 4 })
  .map((letters) => letters.join(''))
  .filter((text) => text !== '.');
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

test('10,000 globs match what the plain rules say', () => {
  let matched = 0;
  fc.assert(
    fc.property(glob, path, (pattern, file) => {
      const expected = matchesPlainly(pattern, file);
      if (expected) matched++;
      expect(createMatcher([pattern])(file)).toBe(expected ? pattern : null);
    }),
    { numRuns: 10_000 },
  );
  expect(matched).toBeGreaterThan(1000);
});

test('with braces it is any of the alternatives, and the last entry that matches decides', () => {
  fc.assert(
    fc.property(glob, glob, glob, path, (one, two, three, file) => {
      fc.pre(!one.includes('/') && !two.includes('/'));
      const either = createMatcher([`{${one},${two}}`])(file) !== null;
      expect(either).toBe(matchesPlainly(one, file) || matchesPlainly(two, file));
      const left = createMatcher([one, `!${two}`, three])(file);
      expect(left).toBe(
        matchesPlainly(three, file) ? three : matchesPlainly(one, file) && !matchesPlainly(two, file) ? one : null,
      );
    }),
    { numRuns: 2000 },
  );
});

test('a path that a list matches has one of its literal texts in it', () => {
  fc.assert(
    fc.property(glob, glob, glob, path, (one, two, three, file) => {
      const list = [three, one.includes('/') || two.includes('/') ? one : `x{${one},${two}}`, `!${two}`, `{${one},b}`];
      fc.pre(list.every((entry) => globFault(entry) === null));
      if (createMatcher(list)(file) !== null) expect(literalsOf(list).some((text) => file.includes(text))).toBe(true);
    }),
    { numRuns: 5000 },
  );
  expect(literalsOf(['*.{secret,key}', '!a.key'])).toEqual(['.secret', '.key']);
});
