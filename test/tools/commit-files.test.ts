import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitFiles, type FileEdit } from '../../src/tools/commit-files.ts';
import { readTree, temporaryFolder, writeFiles } from './room.ts';

function editsIn(dir: string, contents: Record<string, string | null>): FileEdit[] {
  return Object.entries(contents).map(([name, content]) => {
    const absolute = path.join(dir, name);
    const before = fs.lstatSync(absolute, { throwIfNoEntry: false }) ?? null;
    return { absolute, name, before, after: content === null ? null : Buffer.from(content), mode: null };
  });
}

const FILES = { 'a.txt': 'a', 'b.txt': 'b', 'c/d.txt': 'd' };

describe('commitFiles', () => {
  test('leaves no trace beside the files', async () => {
    const dir = temporaryFolder();
    writeFiles(dir, FILES);
    const edits = editsIn(dir, { 'a.txt': 'A', 'b.txt': null, 'c/d.txt': 'D', 'x/y/z': 'Z', 'c/e': 'E' });
    expect(await commitFiles(edits)).toEqual({ kind: 'committed' });
    expect(readTree(dir)).toEqual({ 'a.txt': 'A', 'c/d.txt': 'D', 'x/y/z': 'Z', 'c/e': 'E' });
  });

  test.each([
    [
      'a file that was changed meanwhile',
      (dir: string) => fs.writeFileSync(path.join(dir, 'c/d.txt'), 'changed'),
      'was changed meanwhile',
    ],
    ['a file that came up meanwhile', (dir: string) => writeFiles(dir, { 'x/y/z': 'other' }), 'was changed meanwhile'],
    [
      'a folder in place of a file',
      (dir: string) => fs.mkdirSync(path.join(dir, 'x/y/z'), { recursive: true }),
      'was changed meanwhile',
    ],
    ['a file in place of a folder', (dir: string) => writeFiles(dir, { x: 'file' }), 'cannot be written (ENOTDIR)'],
    [
      'a folder that became a link',
      (dir: string) => {
        fs.renameSync(path.join(dir, 'c'), path.join(dir, 'old'));
        fs.symlinkSync('old', path.join(dir, 'c'));
      },
      'cannot be written',
    ],
  ])('undoes everything for the sake of %s', async (_, disturb, reason) => {
    const dir = temporaryFolder();
    writeFiles(dir, FILES);
    const edits = editsIn(dir, {
      'a.txt': 'A',
      'b.txt': null,
      'n.txt': 'N',
      'new/n.txt': 'N',
      'c/d.txt': 'D',
      'x/y/z': 'Z',
    });
    disturb(dir);
    const before = readTree(dir);
    expect(await commitFiles(edits)).toEqual({ kind: 'failed', reason: expect.stringContaining(reason) });
    expect(readTree(dir)).toEqual(before);
  });

  test('writes nothing outside when a folder above is swapped for a link', async () => {
    const outside = temporaryFolder();
    fs.mkdirSync(path.join(outside, 'sub'));
    const dir = temporaryFolder();
    writeFiles(dir, { 'c/sub/d.txt': 'd' });
    const edits = editsIn(dir, { 'c/sub/new.txt': 'N' });
    fs.renameSync(path.join(dir, 'c'), path.join(dir, 'old'));
    fs.symlinkSync(outside, path.join(dir, 'c'));
    expect(await commitFiles(edits)).toEqual({
      kind: 'failed',
      reason: 'c/sub/new.txt: its folder was moved meanwhile; nothing was changed',
    });
    expect(readTree(outside)).toEqual({ 'sub/': '/' });
  });

  test('makes many edits with few open files', async () => {
    const dir = temporaryFolder();
    const contents = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`f${n}`, `${n}`]));
    const before = fs.readdirSync('/dev/fd').length;
    expect(await commitFiles(editsIn(dir, contents))).toEqual({ kind: 'committed' });
    expect(readTree(dir)).toEqual(contents);
    expect(fs.readdirSync('/dev/fd').length).toBe(before);
  });
});
