import { expect, test } from 'vitest';
import { createMatcher, globFault } from '../../src/policy/index.ts';

test.each<[globs: readonly string[], taken: readonly string[], left: readonly string[]]>([
  [['**'], ['a', 'a/b', '.git/x'], ['']],
  [['*.md'], ['a.md', 'x/y/a.md', 'a.md/inside'], ['a.mdx', 'md']],
  [['/*.md'], ['a.md'], ['x/a.md']],
  [['src/**'], ['src', 'src/a', 'src/a/b'], ['x/src/a', 'srcs']],
  [['src/'], ['src/a', 'x/src/a', 'src'], ['src.ts']],
  [['src/*'], ['src/a', 'src/a/b'], ['src']],
  [['**/test/**'], ['test', 'test/a', 'x/test/a', 'x/y/test/b/c'], ['tests/a', 'x/testing']],
  [['a/**/b'], ['a/b', 'a/x/b', 'a/x/y/b/c'], ['a', 'x/a/b']],
  [['.git'], ['.git', '.git/config', 'sub/.git'], ['.github', '.gitignore']],
  [['?.ts'], ['a.ts', 'é.ts', '😀.ts'], ['ab.ts', '.ts']],
  [['[a-c].ts'], ['b.ts'], ['d.ts', '[a-c].ts']],
  [['[!a-c].ts'], ['d.ts'], ['b.ts']],
  [['[]x].ts'], ['].ts', 'x.ts'], ['y.ts']],
  [['[x.ts'], ['[x.ts'], ['x.ts']],
  [['*.{test,spec}.*'], ['a.test.ts', 'x/a.spec.js'], ['a.ts', 'atest.ts']],
  [['{a,b/{c,d}}'], ['a', 'b/c', 'b/d/e'], ['b', 'b/e']],
  [
    ['{a}', 'x{'],
    ['{a}', 'x{'],
    ['a', 'x'],
  ],
  [['\\*.md'], ['*.md'], ['a.md']],
  [['Makefile'], ['Makefile', 'x/Makefile'], ['makefile']],
  [
    ['a/**', '!a/b', 'a/b/c'],
    ['a/x', 'a/b/c'],
    ['a/b', 'a/b/d'],
  ],
  [['.github/**', '!.github/**'], [], ['.github/x']],
  [['./a/./b'], ['a/b', 'a//b'], ['b']],
  [[], [], ['a']],
])('%j takes its paths and leaves the others', (globs, taken, left) => {
  const match = createMatcher(globs);
  expect(taken.filter((path) => match(path) === null)).toEqual([]);
  expect(left.filter((path) => match(path) !== null)).toEqual([]);
});

test('the answer is the entry that decided', () => {
  const match = createMatcher(['*.ts', '!x.ts', 'src/**']);
  expect(['a.ts', 'x.ts', 'src/x.ts'].map(match)).toEqual(['*.ts', null, 'src/**']);
});

test.each([
  ['', 'names nothing'],
  ['/', 'names nothing'],
  ['!', 'names nothing'],
  ['./', 'names nothing'],
  ['a\0b', 'has a NUL character'],
  ['../x', 'leaves the repository with `..`'],
  ['a/{b,..}/c', 'leaves the repository with `..`'],
  ['x'.repeat(1025), 'is longer than 1024 characters'],
  ['{a,b}'.repeat(9), 'stands for more than 256 alternatives'],
  ['**', null],
  ['a..b', null],
  ['!x', null],
])('the fault of %j is %s', (glob, fault) => {
  expect(globFault(glob)).toBe(fault);
});

test('a glob made to go back and forth stays cheap', () => {
  const hard = createMatcher([`${'*a'.repeat(300)}b`, `${'**/a/'.repeat(150)}b`]);
  expect(hard('a'.repeat(4000))).toBeNull();
  expect(hard('a/'.repeat(2000))).toBeNull();
});
