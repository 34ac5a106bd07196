import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRipgrep, runRipgrep } from '../../src/tools/ripgrep.ts';
import { search } from '../../src/tools/search.ts';
import { searchByRipgrep } from '../../src/tools/search-by-ripgrep.ts';
import { searchByWalk } from '../../src/tools/search-by-walk.ts';
import type { SearchHit, SearchQuery } from '../../src/tools/search-query.ts';
import { walkFiles } from '../../src/tools/walk-files.ts';
import { createRoom, git, type Room, temporaryFolder, writeFiles } from './room.ts';

const FILES = {
  '.gitignore': 'dist/\n*.log\n!keep.log\n/top.txt\ndoc/*.md\n# needle\n',
  'top.txt': 'needle\n',
  'sub/top.txt': 'needle in sub\n',
  'a.log': 'needle\n',
  'keep.log': 'needle kept\n',
  'dist/out.js': 'needle\n',
  'doc/x.md': 'needle\n',
  'doc/deep/y.md': 'needle in deep\n',
  'src/a.ts': 'one\nneedle 42\r\nthree\n',
  'src/.gitignore': '!b.log\nc.ts\n',
  'src/b.log': 'needle again\n',
  'src/c.ts': 'needle\n',
  'blob.bin': Buffer.from('needle\0needle\n'),
  '.git2/x': 'needle git2\n',
};

async function hitsOf(query: Omit<SearchQuery, 'onHit'>, way: 'ripgrep' | 'walk'): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  const full = { ...query, onHit: (hit: SearchHit) => hits.push(hit) > 0 };
  const signal = new AbortController().signal;
  const program = await findRipgrep(query.root);
  const end =
    way === 'walk' ? await searchByWalk(full, signal) : await searchByRipgrep(program ?? 'no ripgrep', full, signal);
  expect(end).toEqual({ kind: 'ended', stopped: null });
  return hits.map((hit) => ({ ...hit, text: hit.text.replace(/\r$/u, '') }));
}

function createRepository(): Room {
  const room = createRoom(FILES);
  git(room.dir, 'init', '-q');
  fs.writeFileSync(path.join(room.dir, '.git/needle'), 'needle\n');
  return room;
}

describe.each(['ripgrep', 'walk'] as const)('searching by %s', (way) => {
  test('finds lines in files that git does not ignore, in the order of paths', async () => {
    const { dir: root } = createRepository();
    expect(await hitsOf({ root, base: '', pattern: 'need.e', glob: null, globFolder: '' }, way)).toEqual([
      { path: '.git2/x', line: 1, text: 'needle git2' },
      { path: '.gitignore', line: 6, text: '# needle' },
      { path: 'doc/deep/y.md', line: 1, text: 'needle in deep' },
      { path: 'keep.log', line: 1, text: 'needle kept' },
      { path: 'src/a.ts', line: 2, text: 'needle 42' },
      { path: 'src/b.log', line: 1, text: 'needle again' },
      { path: 'sub/top.txt', line: 1, text: 'needle in sub' },
    ]);
  });

  test.each([
    ['*.ts', ['src/a.ts']],
    ['sub/**', ['sub/top.txt']],
    ['!*.{ts,log,md}', ['.git2/x', '.gitignore', 'sub/top.txt']],
  ])('keeps to the glob %s', async (glob, expected) => {
    const { dir: root } = createRepository();
    const hits = await hitsOf({ root, base: '', pattern: 'needle', glob, globFolder: '' }, way);
    expect(hits.map((hit) => hit.path)).toEqual(expected);
  });

  test('searches below a folder or in one file, whose name may look like an option', async () => {
    const { dir: root } = createRepository();
    writeFiles(root, { '-e': 'needle dash\n' });
    const inFolder = await hitsOf({ root, base: 'src', pattern: 'needle', glob: null, globFolder: '' }, way);
    expect(inFolder.map((hit) => hit.path)).toEqual(['src/a.ts', 'src/b.log']);
    expect(await hitsOf({ root, base: '-e', pattern: '-?needle', glob: null, globFolder: '' }, way)).toEqual([
      { path: '-e', line: 1, text: 'needle dash' },
    ]);
  });

  test('reports an invalid pattern', async () => {
    const { dir: root } = createRepository();
    const query = { root, base: '', pattern: 'a(', glob: null, globFolder: '', onHit: () => true };
    const signal = new AbortController().signal;
    const program = (await findRipgrep(root)) ?? 'no ripgrep';
    const end = await (way === 'walk' ? searchByWalk(query, signal) : searchByRipgrep(program, query, signal));
    expect(end).toEqual({ kind: 'invalid', reason: expect.stringMatching(/group|closing/u) });
  });
});

test('the walk lists what ripgrep lists', async () => {
  const { dir: root } = createRepository();
  const walked: string[] = [];
  for await (const file of walkFiles(root, '', new AbortController().signal)) walked.push(file);
  const listed: string[] = [];
  const program = (await findRipgrep(root)) ?? 'no ripgrep';
  const onRecord = (record: string) => listed.push(record.slice(2)) > 0;
  const run = { program, args: ['--files', '--null', './'], cwd: root, separator: '\0' as const, onRecord };
  await runRipgrep(run, new AbortController().signal);
  expect(walked.sort()).toEqual(listed.sort());
});

describe('findRipgrep', () => {
  test('never takes a program from the tree under work or from a relative folder of PATH', async () => {
    const root = temporaryFolder();
    const elsewhere = temporaryFolder();
    for (const dir of [root, elsewhere]) fs.writeFileSync(path.join(dir, 'rg'), '#!/bin/sh\n', { mode: 0o755 });
    fs.symlinkSync(path.join(root, 'rg'), path.join(temporaryFolder(), 'rg'));
    const found = await findRipgrep('/', { PATH: `.:${root}:${elsewhere}` });
    expect(found).toBe(null);
    expect(await findRipgrep(root, { PATH: root })).not.toBe(path.join(root, 'rg'));
  });
});

describe('search', () => {
  test('answers with path, line and text, and says when nothing matches', async () => {
    const room = createRepository();
    expect(await room.call(search, { pattern: 'needle \\d+' })).toEqual({
      status: 'completed',
      output: 'src/a.ts:2: needle 42\n',
      note: '',
      detail: { type: 'tool_call', summary: 'search "needle \\\\d+"', error: null },
    });
    expect((await room.call(search, { pattern: 'nowhere' })).note).toBe('No match.');
  });

  test('stops at the limit and at what the model may see', async () => {
    const room = createRoom({ 'a.txt': 'needle\n'.repeat(5000) }, { outputBytes: 1000 });
    const few = await room.call(search, { pattern: 'needle', limit: 2 });
    expect([few.output, few.note]).toEqual([
      'a.txt:1: needle\na.txt:2: needle\n',
      'The first 2 matches; there are more: narrow the search.',
    ]);
    const many = await room.call(search, { pattern: 'needle' });
    expect(Buffer.byteLength(many.output)).toBeLessThanOrEqual(1000);
    expect(many.output.split('\n').length).toBeGreaterThan(40);
  });

  test('takes a glob with a slash as relative to the workspace', async () => {
    const room = createRoom({ 'sub/src/a.ts': 'needle\n', 'src/b.ts': 'needle\n' });
    room.ports.workspace = path.join(room.dir, 'sub');
    const { output } = await room.call(search, { pattern: 'needle', path: '..', glob: 'src/*.ts' });
    expect(output).toBe('src/a.ts:1: needle\n');
  });

  test('clips long lines', async () => {
    const room = createRoom({ 'a.txt': `needle${'x'.repeat(100_000)}\n` });
    expect((await room.call(search, { pattern: 'needle' })).output).toBe(`a.txt:1: needle${'x'.repeat(294)}…\n`);
  });

  test('never shows a line of a hidden file, however it is asked for', async () => {
    const access = (name: string) => ({ hidden: name === '.env' || name.startsWith('private/'), protectedBy: null });
    const room = createRoom({ '.env': 'needle 1\n', 'private/a': 'needle 2\n', 'b.txt': 'needle 3\n' }, { access });
    expect((await room.call(search, { pattern: 'needle' })).output).toBe('b.txt:1: needle 3\n');
    expect((await room.call(search, { pattern: 'needle', glob: '.env' })).output).toBe('');
    expect((await room.call(search, { pattern: 'needle', path: 'private' })).output).toBe('');
    expect((await room.call(search, { pattern: 'needle', path: '.env' })).status).toBe('declined');
  });

  test('follows no link out of the tree and reads no configuration from it', async () => {
    const outside = temporaryFolder();
    writeFiles(outside, { 'x.txt': 'needle outside\n' });
    const room = createRoom({ '.ripgreprc': '--follow\n', 'a.txt': 'needle\n' });
    fs.symlinkSync(outside, path.join(room.dir, 'out'));
    expect((await room.call(search, { pattern: 'needle' })).output).toBe('a.txt:1: needle\n');
    expect((await room.call(search, { pattern: 'needle', path: 'out' })).status).toBe('failed');
  });

  test('is cancelled with the run', async () => {
    const room = createRoom({ 'a.txt': 'needle\n' });
    expect((await room.call(search, { pattern: 'needle' }, AbortSignal.abort())).status).toBe('cancelled');
  });
});
