import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { listFiles } from '../../src/tools/list-files.ts';
import { readFile } from '../../src/tools/read-file.ts';
import { readOutput } from '../../src/tools/read-output.ts';
import { createRoom, git, temporaryFolder } from './room.ts';

const numbered = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('');

describe('read_file', () => {
  test('gives the whole of a small file as it is', async () => {
    const room = createRoom({ 'a.txt': 'one\n\ttwo\r\nlast' });
    expect(await room.call(readFile, { path: 'a.txt' })).toEqual({
      status: 'completed',
      output: 'one\n\ttwo\nlast\n',
      note: 'The whole file, 3 lines.',
      detail: { type: 'tool_call', summary: 'read a.txt', error: null },
    });
  });

  test('gives a window and says where to go on', async () => {
    const room = createRoom({ 'a.txt': numbered(1000) });
    const first = await room.call(readFile, { path: 'a.txt', offset: 10, limit: 2 });
    expect([first.output, first.note]).toEqual(['line 10\nline 11\n', 'Lines 10-11 of 1000. Go on with offset 12.']);
    const last = await room.call(readFile, { path: 'a.txt', offset: 999 });
    expect([last.output, last.note]).toEqual(['line 999\nline 1000\n', 'Lines 999-1000 of 1000, the end.']);
    const beyond = await room.call(readFile, { path: 'a.txt', offset: 1001 });
    expect([beyond.output, beyond.note]).toEqual(['', 'The file has only 1000 lines.']);
    expect((await room.call(readFile, { path: 'a.txt' })).note).toBe('Lines 1-400 of 1000. Go on with offset 401.');
  });

  test('stays inside of what the model may see of an output, and goes on without a gap', async () => {
    const room = createRoom({ 'a.txt': numbered(1000) }, { outputBytes: 100 });
    let text = '';
    let offset = 1;
    while (offset <= 1000) {
      const { output } = await room.call(readFile, { path: 'a.txt', offset });
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(100);
      text += output;
      offset += output.split('\n').length - 1;
    }
    expect(text).toBe(numbered(1000));
  });

  test('cuts a long line between characters and says how long it is', async () => {
    const room = createRoom({ 'a.js': `${'é'.repeat(5000)}\nshort\n` });
    const { output } = await room.call(readFile, { path: 'a.js' });
    expect(output).toBe(`${'é'.repeat(1000)}… [cut: the line has 10000 bytes]\nshort\n`);
    const odd = createRoom({ 'a.js': `x${'é'.repeat(5000)}` });
    expect((await odd.call(readFile, { path: 'a.js' })).output).toBe(
      `x${'é'.repeat(999)}… [cut: the line has 10001 bytes]\n`,
    );
  });

  test('reads a window at the end of a sparse file of 1 GB in little memory', async () => {
    const room = createRoom({ 'big.txt': numbered(5000) });
    fs.truncateSync(path.join(room.dir, 'big.txt'), 1024 ** 3);
    const before = process.memoryUsage().rss;
    const { output, note } = await room.call(readFile, { path: 'big.txt', offset: 4999, limit: 2 });
    expect(output).toBe('line 4999\nline 5000\n');
    expect(note).toBe(`Lines 4999-5000 of a file of ${1024 ** 3} bytes. Go on with offset 5001.`);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
  });

  test('names a binary file with its kind and size', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]);
    const room = createRoom({ 'a.png': png, 'b.bin': Buffer.from([1, 0, 2]) });
    const image = await room.call(readFile, { path: 'a.png' });
    expect([image.output, image.note]).toEqual(['', 'a.png is not text: PNG image, 12 bytes.']);
    expect((await room.call(readFile, { path: 'b.bin' })).note).toBe('b.bin is not text: binary file, 3 bytes.');
  });

  test('says what a path is that cannot be read, and never opens a FIFO', async () => {
    const room = createRoom({ 'src/a.txt': 'a\n', empty: '' });
    execFileSync('mkfifo', [path.join(room.dir, 'pipe')]);
    const note = async (written: string) => (await room.call(readFile, { path: written })).note;
    expect(await note('src')).toBe('src is a folder: list it with list_files {"pattern": "src/**"}');
    expect(await note('none')).toBe('none does not exist');
    expect(await note('pipe')).toBe('pipe is not a regular file');
    expect(await note('src/a.txt/b')).toBe('src/a.txt/b: src/a.txt is not a folder');
    expect(await note('empty')).toBe('The file is empty.');
  });

  test('declines what the policy hides, also through a link', async () => {
    const access = (name: string) => ({ hidden: name === '.env', protectedBy: null });
    const room = createRoom({ '.env': 'secret\n' }, { access });
    fs.symlinkSync('.env', path.join(room.dir, 'link'));
    for (const written of ['.env', './x/../.env', 'link', path.join(room.dir, '.env')]) {
      const outcome = await room.call(readFile, { path: written });
      expect([outcome.status, outcome.output]).toEqual(['declined', '']);
    }
  });
});

describe('list_files', () => {
  const files = {
    '.gitignore': 'dist/\n*.log\n!keep.log\n',
    'README.md': 'r',
    'a.log': 'l',
    'keep.log': 'k',
    'dist/out.js': 'o',
    'src/a.ts': 'a',
    'src/deep/b.ts': 'b',
    'src/deep/.gitignore': 'c.*\n',
    'src/deep/c.ts': 'c',
    '.hidden/x.ts': 'x',
  };

  test.each([
    ['src/**', ['src/a.ts', 'src/deep/.gitignore', 'src/deep/b.ts']],
    ['**/*.ts', ['.hidden/x.ts', 'src/a.ts', 'src/deep/b.ts']],
    ['*', ['.gitignore', '.hidden/ (1 file)', 'README.md', 'keep.log', 'src/ (3 files)']],
    ['src/*', ['src/a.ts', 'src/deep/ (2 files)']],
    ['src', ['src/a.ts', 'src/deep/ (2 files)']],
    ['{README,src/a}*', ['README.md', 'src/a.ts']],
    ['src/a.ts', ['src/a.ts']],
    ['dist/*', ['dist/out.js']],
  ])('lists %s without what git ignores', async (pattern, expected) => {
    const room = createRoom(files);
    git(room.dir, 'init', '-q');
    const outcome = await room.call(listFiles, { pattern });
    expect(outcome.output.split('\n').filter((line) => line !== '')).toEqual(expected);
    expect(outcome.status).toBe('completed');
  });

  test('says how many more there are', async () => {
    const room = createRoom(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f/${100 + n}`, ''])));
    const outcome = await room.call(listFiles, { pattern: 'f/*', limit: 3 });
    expect([outcome.output, outcome.note]).toEqual([
      'f/100\nf/101\nf/102\n',
      '3 of 30: narrow the pattern for the rest.',
    ]);
  });

  test('follows no link, leaves out hidden files and the git folder, and stays inside', async () => {
    const outside = temporaryFolder();
    fs.writeFileSync(path.join(outside, 'secret.ts'), '');
    const access = (name: string) => ({ hidden: name.startsWith('private'), protectedBy: null });
    const room = createRoom({ 'a.ts': '', 'private/b.ts': '' }, { access });
    git(room.dir, 'init', '-q');
    fs.symlinkSync(outside, path.join(room.dir, 'out'));
    expect((await room.call(listFiles, { pattern: '**' })).output).toBe('a.ts\n');
    const refused = await Promise.all(
      ['../*', '/etc/*', 'out/*', '.git/*'].map((pattern) => room.call(listFiles, { pattern })),
    );
    expect(refused.map((outcome) => [outcome.status, outcome.output])).toEqual(refused.map(() => ['failed', '']));
  });

  test('gives a hint where nothing matches', async () => {
    const room = createRoom({ 'src/a.ts': '' });
    expect((await room.call(listFiles, { pattern: '*.ts' })).note).toBe(
      'No file matches *.ts here; "**/*.ts" looks at any depth.',
    );
    expect((await room.call(listFiles, { pattern: 'none/*.ts' })).note).toBe('There is no folder none.');
  });

  test('lists from a workspace that is a subfolder, with ignore rules of the root', async () => {
    const room = createRoom(files);
    git(room.dir, 'init', '-q');
    room.ports.workspace = path.join(room.dir, 'src');
    expect((await room.call(listFiles, { pattern: '**/*.ts' })).output).toBe('a.ts\ndeep/b.ts\n');
    expect((await room.call(listFiles, { pattern: '../*.md' })).output).toBe('../README.md\n');
  });
});

describe('read_output', () => {
  const kept = 'x'.repeat(1000);
  const ports = {
    outputBytes: 100,
    readOutput: async (id: string, { offset, limit }: { offset: number; limit: number }) =>
      id === 'out_1' ? { text: kept.slice(offset, offset + limit), totalBytes: kept.length } : null,
  };

  test('gives the region asked for and says what is left', async () => {
    const room = createRoom({}, ports);
    const middle = await room.call(readOutput, { output_id: 'out_1', offset: 900, limit: 40 });
    expect([middle.output.length, middle.note]).toEqual([40, 'bytes 900 to 940 of 1000; go on with offset 940']);
    const bounded = await room.call(readOutput, { output_id: 'out_1', limit: 5000 });
    expect([bounded.output.length, bounded.note]).toEqual([100, 'bytes 0 to 100 of 1000; go on with offset 100']);
    const end = await room.call(readOutput, { output_id: 'out_1', offset: 950 });
    expect([end.output.length, end.note]).toEqual([50, 'bytes 950 to 1000 of 1000']);
  });

  test('fails for an id that it does not know', async () => {
    const outcome = await createRoom({}, ports).call(readOutput, { output_id: 'nope' });
    expect([outcome.status, outcome.note]).toEqual(['failed', 'there is no kept output with the id "nope"']);
  });
});
