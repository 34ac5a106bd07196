import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commit, createRepository, git, open, write } from './repository.ts';

/** Long before any index: git reads a file as young as its index again whatever it knows of it. */
const LONG_AGO = new Date('2001-01-01');
const FOLDERS = ['', 'dir', 'dir/sub'];
const FILES = ['a', 'b', 'dir/sub/a', 'dir/sub/b'];

/** Every time that a user can set is what it was, of the folders as well. */
const putBackTimes = (dir: string): void => {
  for (const path of [...FILES, ...FOLDERS].map((one) => join(dir, one)))
    if (existsSync(path)) utimesSync(path, LONG_AGO, LONG_AGO);
};

/** What a snapshot has to hold, read without git. */
const contentOf = (dir: string): string => {
  const texts = FILES.map((path) => (existsSync(join(dir, path)) ? readFileSync(join(dir, path), 'utf8') : null));
  return JSON.stringify(texts);
};

// All of one size.
const change = fc.tuple(fc.constantFrom(...FILES), fc.constantFrom<string | null>('one\n', 'two\n', 'six\n', null));
const steps = fc.array(fc.tuple(fc.array(change, { minLength: 1, maxLength: 2 }), fc.boolean()), {
  minLength: 2,
  maxLength: 5,
});

it('any edits within a second whose times are put back: a workspace, small or big, has a tree for each content', async () => {
  const dir = await createRepository({ a: 'one\n', 'dir/sub/a': 'one\n' });
  putBackTimes(dir);
  const small = (await open(dir)).workspace;
  const big = (await open(dir, { manyEntries: 0 })).workspace;
  const trees = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      for (const [changes, isTold] of list) {
        for (const [path, content] of changes) {
          if (content === null) rmSync(join(dir, path), { force: true });
          else writeFileSync(join(dir, path), content);
        }
        putBackTimes(dir);
        const content = contentOf(dir);
        const told = isTold ? changes.map(([path]) => path) : null;
        const found = await Promise.all([small.snapshot(told), big.snapshot(told)]);
        const known = trees.get(content) ?? found[0];
        expect(found).toEqual([known, known]);
        trees.set(content, known);
      }
    }),
    { numRuns: 10 },
  );
  expect(new Set(trees.values()).size).toBe(trees.size);
}, 60_000);

it('folders that git has just looked into, with rules and without, are looked into again', async () => {
  const folders = Array.from({ length: 140 }, (_, at) => `d${at}`);
  // So many that git is asked each time, and remembers folders.
  const many = Object.fromEntries(Array.from({ length: 1050 }, (_, at) => [`d${at % 140}/${at}`, 'x\n']));
  const dir = await createRepository({ ...many, 'd1/.gitignore': 'o\n', 'd130/.gitignore': 'o\n' });
  const touch = () => {
    for (const folder of ['', ...folders]) utimesSync(join(dir, folder), LONG_AGO, LONG_AGO);
  };
  const { workspace } = await open(dir, { manyEntries: 0 });
  const expected: string[] = [];
  for (const at of [3, 1, 127, 130]) {
    touch();
    await workspace.snapshot();
    await write(dir, { [`d${at}/new`]: 'x\n', [`d${at}/o`]: 'x\n' });
    touch();
    expected.push(`d${at}/new`, ...([1, 130].includes(at) ? [] : [`d${at}/o`]));
    const changed = await workspace.changedPaths(workspace.base.tree, await workspace.snapshot());
    expect(changed.map(({ path }) => path)).toEqual(expected.toSorted());
  }
});

it('an index of the user’s in another form is read as well', async () => {
  for (const version of ['2', '3', '4']) {
    const dir = await createRepository({ [`a-${'long'.repeat(30)}`]: 'one\n', b: 'one\n', 'dir/c': 'one\n' });
    git(dir, 'update-index', '--index-version', version);
    if (version === '3') {
      await write(dir, { announced: 'x' });
      git(dir, 'add', '-N', 'announced');
    } else commit(dir);
    utimesSync(join(dir, 'b'), LONG_AGO, LONG_AGO);
    git(dir, 'status');
    // The second in which that index was written is not over.
    writeFileSync(join(dir, 'b'), 'two\n');
    utimesSync(join(dir, 'b'), LONG_AGO, LONG_AGO);
    const { workspace } = await open(dir);
    expect(String(await workspace.read(workspace.base.tree, 'b'))).toBe('two\n');
  }
});
