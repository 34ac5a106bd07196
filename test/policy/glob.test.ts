import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUILT_IN_PROTECT, BUILT_IN_TESTS, createMatcher, globFault } from '../../src/policy/index.ts';

const MATCHES: readonly [string, readonly string[], readonly string[]][] = [
  ['.env', ['.env', 'a/.env', 'a/b/.env', '.env/x'], ['.env.local', 'x.env', '.ENV']],
  ['.env.*', ['.env.local', 'a/.env.prod', '.env.d/x'], ['.env']],
  ['/.env', ['.env', '.env/x'], ['a/.env']],
  ['src/**', ['src/a', 'src/a/b', 'src'], ['a/src/b', 'srcs/a']],
  ['**/src', ['src', 'a/src', 'a/src/b'], ['asrc']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'a/b/c'], ['a/bc', 'b']],
  ['**', ['a', 'a/b', '.hidden/x'], []],
  ['*.md', ['a.md', 'docs/a.md', '.md'], ['a.mdx']],
  ['docs/*.md', ['docs/a.md'], ['docs/a/b.md', 'x/docs/a.md']],
  ['docs/', ['docs', 'docs/a', 'x/docs/a'], ['docsa']],
  ['a?c', ['abc', 'a.c'], ['ac', 'a/c', 'abbc']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '[a-c]x']],
  ['[!a-c]x', ['dx'], ['ax']],
  ['[^a]x', ['bx'], ['ax']],
  ['[]]x', [']x'], ['x']],
  ['[x', ['[x'], ['x']],
  ['{a,b}.js', ['a.js', 'b.js'], ['c.js', '{a,b}.js']],
  ['{a,b{c,d}}/x', ['a/x', 'bc/x', 'bd/x'], ['b/x', 'z/a/x']],
  ['{a}', ['{a}'], ['a']],
  ['a\\*b', ['a*b'], ['axb']],
  ['\\!a', ['!a'], ['a']],
  ['./a/b', ['a/b', './a/b', 'a//b'], ['x/a/b']],
  ['é*', ['été'], ['ete']],
  ['?', ['😀'], ['ab']],
];

describe('a matcher', () => {
  test.each(MATCHES)('%s', (glob, yes, no) => {
    const match = createMatcher([glob]);
    expect([yes.filter((path) => match(path) === null), no.filter((path) => match(path) !== null)]).toEqual([[], []]);
  });

  test('names the entry that decided, and the last one that matches decides', () => {
    const match = createMatcher(['*.md', 'docs/**', '!docs/open/**', 'docs/open/not.md']);
    expect(['a.md', 'docs/a.md', 'docs/open/a.md', 'docs/open/not.md', 'b.txt'].map(match)).toEqual([
      '*.md',
      'docs/**',
      null,
      'docs/open/not.md',
      null,
    ]);
  });

  test('an empty list and an empty path match nothing', () => {
    expect([createMatcher([])('a'), createMatcher(['**'])('')]).toEqual([null, null]);
  });

  test('the built-in lists cover what they name and nothing of a usual source tree', () => {
    const protect = createMatcher(BUILT_IN_PROTECT);
    expect(['.git', '.git/config', 'sub/.git', '.github/workflows/new.yml', '.github', '.husky/pre-commit', 'docs/CODEOWNERS', 'a/AGENTS.md'].filter((path) => protect(path) === null)).toEqual([]);
    const tests = createMatcher(BUILT_IN_TESTS);
    const judges = ['test/a.js', 'pkg/tests/x.py', 'src/a.test.ts', 'src/__tests__/a.ts', 'a_test.go', 'conftest.py', 'vitest.config.ts', '.npmrc', 'src/test/java/AppTest.java', 'phpunit.xml.dist', 'spec/a_spec.rb', '.mocharc.json', 'tests/snapshots/a.snap'];
    expect(judges.filter((path) => tests(path) === null)).toEqual([]);
    const work = ['src/index.ts', 'package.json', 'package-lock.json', 'pyproject.toml', 'Cargo.toml', 'go.mod', 'main.go', 'lib/contest.py', 'README.md', 'src/latest.ts', 'src/attest/a.ts'];
    expect([protect, tests].flatMap((match) => work.filter((path) => match(path) !== null))).toEqual([]);
  });

  test('no glob and path take more than a moment, however they repeat', () => {
    const path = `${'a'.repeat(2000)}/${'a/'.repeat(1000)}b`;
    expect(createMatcher([`${'*a'.repeat(200)}x`, `${'**/a/'.repeat(100)}x`, `${'a*'.repeat(100)}[!a]`])(path)).toBeNull();
  });
});

test.each([
  ['', 'names nothing'],
  ['!', 'names nothing'],
  ['/', 'names nothing'],
  ['.', 'names nothing'],
  ['a/../b', 'leaves the repository with `..`'],
  ['{a,../b}', 'leaves the repository with `..`'],
  ['a\0', 'has a NUL character'],
  ['{a,b}'.repeat(9), 'stands for more than 256 alternatives'],
  ['a'.repeat(1025), 'is longer than 1024 characters'],
  ['a..b/*', null],
  ['!*.md', null],
])('the fault of %j is %j', (glob, fault) => expect(globFault(glob)).toBe(fault));

/** The rules once more, as plainly as they can be said, at any cost. */
function naive(glob: string, path: string): boolean {
  const parts = glob.split('/').filter((part) => part !== '');
  const pattern = [...(glob.replace(/\/+$/, '').includes('/') ? [] : ['**']), ...parts, '**'];
  return naiveSegments(pattern, path.split('/'));
}

function naiveSegments(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '**') return naiveSegments(rest, path) || (path.length > 0 && naiveSegments(pattern, path.slice(1)));
  const [head, ...tail] = path;
  return head !== undefined && naiveText(first, head) && naiveSegments(rest, tail);
}

function naiveText(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const rest = pattern.slice(1);
  if (pattern[0] === '*') return naiveText(rest, text) || (text !== '' && naiveText(pattern, text.slice(1)));
  if (text === '') return false;
  if (pattern.startsWith('[ab]')) return 'ab'.includes(text[0] ?? '') && naiveText(pattern.slice(4), text.slice(1));
  if (pattern.startsWith('[!a]')) return text[0] !== 'a' && naiveText(pattern.slice(4), text.slice(1));
  return (pattern[0] === '?' || pattern[0] === text[0]) && naiveText(rest, text.slice(1));
}

test('10,000 globs match what the plain rules say', () => {
  const piece = fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]', '**', '/', '/', '**/');
  const glob = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));
  const segment = fc.array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 4 }).map((letters) => letters.join(''));
  const path = fc.array(segment.filter((text) => text !== '.'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const usable = glob.filter((text) => globFault(text) === null && !text.split('/').includes('.'));
  fc.assert(
    fc.property(usable, path, (pattern, file) => {
      expect(createMatcher([pattern])(file)).toBe(naive(pattern, file) ? pattern : null);
    }),
    { numRuns: 10_000 },
  );
});

test('any text is a fault or a glob, and matching never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (glob, path) => {
      const fault = globFault(glob);
      const match = createMatcher([glob])(path);
      return (fault === null || fault.length > 0) && (match === null || match === glob);
    }),
    { numRuns: 5000 },
  );
});
