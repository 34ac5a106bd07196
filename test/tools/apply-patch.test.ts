import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyPatch } from '../../src/tools/apply-patch.ts';
import { createRoom, git, temporaryFolder, writeFiles } from './room.ts';

const patchOf = (...lines: string[]): { patch: string } => ({
  patch: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n'),
});
const update = (file: string, from: string, to: string): string[] => [
  `*** Update File: ${file}`,
  '@@',
  `-${from}`,
  `+${to}`,
];

describe('apply_patch', () => {
  test('applies all of a patch and tells what it did', async () => {
    const room = createRoom({ 'a.txt': 'one\n', 'd.txt': 'd\n', 'm.txt': 'm\n' });
    const input = patchOf(
      ...update('a.txt', 'one', 'eins'),
      '*** Add File: new/dir/n.txt',
      '+n',
      '*** Delete File: d.txt',
      '*** Update File: m.txt',
      '*** Move to: moved/m.txt',
    );
    expect(applyPatch.action(input)).toEqual({
      kind: 'write',
      paths: ['a.txt', 'new/dir/n.txt', 'd.txt', 'm.txt', 'moved/m.txt'],
    });
    expect(await room.call(applyPatch, input)).toEqual({
      status: 'completed',
      output: '',
      note: 'Done:\nM a.txt\nA new/dir/n.txt\nD d.txt\nD m.txt\nA moved/m.txt',
      detail: {
        type: 'file_change',
        changes: [
          { path: 'a.txt', kind: 'update' },
          { path: 'new/dir/n.txt', kind: 'add' },
          { path: 'd.txt', kind: 'delete' },
          { path: 'm.txt', kind: 'delete' },
          { path: 'moved/m.txt', kind: 'add' },
        ],
        error: null,
      },
    });
    expect(room.tree()).toEqual({ 'a.txt': 'eins\n', 'new/dir/n.txt': 'n\n', 'moved/m.txt': 'm\n' });
  });

  test('lets later hunks see what earlier ones did', async () => {
    const room = createRoom({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const input = patchOf(
      ...update('a.txt', 'one', 'two'),
      ...update('a.txt', 'two', 'three'),
      '*** Add File: n.txt',
      '+x',
      ...update('n.txt', 'x', 'y'),
      '*** Delete File: b.txt',
      '*** Add File: b.txt',
      '+new b',
    );
    expect((await room.call(applyPatch, input)).status).toBe('completed');
    expect(room.tree()).toEqual({ 'a.txt': 'three\n', 'b.txt': 'new b\n', 'n.txt': 'y\n' });
  });

  test('makes a folder out of a file that the patch removes', async () => {
    const room = createRoom({ a: 'a\n' });
    const outcome = await room.call(applyPatch, patchOf('*** Delete File: a', '*** Add File: b/c', '+x'));
    expect([outcome.status, room.tree()]).toEqual(['completed', { 'b/c': 'x\n' }]);
  });

  test.each([
    ['a file is not there', ['*** Update File: none', '@@', '-a', '+b'], 'none does not exist'],
    ['lines are not there', update('b.txt', 'nope', 'x'), 'b.txt: the lines of the chunk'],
    ['a folder is to be deleted', ['*** Delete File: dir'], 'dir is a folder: it cannot be deleted'],
    ['a folder is in the way', ['*** Add File: dir', '+x'], 'dir is a folder'],
    ['a file is in the way of a folder', ['*** Add File: b.txt/c', '+x'], 'b.txt/c: b.txt is not a folder'],
    ['a file is binary', update('blob', 'a', 'b'), 'blob is a binary file: only text can be patched'],
    ['a file is deleted twice', ['*** Delete File: b.txt', '*** Delete File: b.txt'], 'b.txt does not exist'],
    [
      'a deleted file is updated',
      ['*** Delete File: b.txt', ...update('b.txt', 'b', 'c')],
      'the patch itself removes it',
    ],
    ['a path leaves the repository', ['*** Add File: ../x', '+x'], '../x: is outside of the repository'],
    ['a path is in the git folder', ['*** Add File: sub/.GIT/hooks/x', '+x'], 'the git folder is out of reach'],
    ['a path has a NUL', ['*** Add File: a\0b', '+x'], 'the path contains a NUL byte'],
    ['the end is not well formed', ['*** Nonsense'], 'The patch is malformed: line 9'],
  ])('changes nothing when %s', async (_, hunk, reason) => {
    const files = { 'a.txt': 'one\n', 'b.txt': 'b\n', 'dir/x': 'x', blob: Buffer.from('a\n\0'), 'z.txt': 'z\n' };
    const room = createRoom(files);
    const before = room.tree();
    const prefix = [...update('a.txt', 'one', 'eins'), '*** Delete File: z.txt', '*** Add File: new/n.txt', '+n'];
    const outcome = await room.call(applyPatch, patchOf(...prefix, ...hunk));
    expect(outcome.note).toContain(reason);
    expect([outcome.status, outcome.output, room.tree()]).toEqual(['failed', '', before]);
  });

  test('declines protected and hidden files, by whatever name', async () => {
    const access = (name: string) => ({
      hidden: name === '.env',
      protectedBy: name.startsWith('guard') ? 'guard/**' : null,
    });
    const room = createRoom({ 'guard/a.txt': 'one\n', '.env': 'one\n', 'free.txt': 'one\n' }, { access });
    fs.symlinkSync('guard', path.join(room.dir, 'door'));
    fs.symlinkSync('../free.txt', path.join(room.dir, 'guard/link'));
    const before = room.tree();
    const names = [
      'guard/a.txt',
      './guard/../guard/a.txt',
      'guard/link',
      'door/a.txt',
      path.join(room.dir, 'guard/a.txt'),
      '.env',
    ];
    for (const name of names) {
      const outcome = await room.call(
        applyPatch,
        patchOf(...update('free.txt', 'one', 'x'), ...update(name, 'one', 'x')),
      );
      expect([name, outcome.status, room.tree()]).toEqual([name, 'declined', before]);
    }
    for (const hunk of [['*** Delete File: guard/a.txt'], ['*** Update File: free.txt', '*** Move to: guard/n.txt']]) {
      expect((await room.call(applyPatch, patchOf(...hunk))).status).toBe('declined');
    }
    expect(room.tree()).toEqual(before);
  });

  test('keeps mode bits, also over a move, and gives new files those of the umask', async () => {
    const room = createRoom({ 'tool.sh': 'one\n', 'old.sh': 'old\n', 'plain.txt': 'p\n' });
    for (const name of ['tool.sh', 'old.sh']) fs.chmodSync(path.join(room.dir, name), 0o751);
    const hunks = ['*** Add File: n.txt', '+n', '*** Add File: old.sh', '+new'];
    const moved = ['*** Update File: tool.sh', '*** Move to: bin/tool.sh', '@@', '-one', '+eins'];
    await room.call(applyPatch, patchOf(...hunks, ...moved));
    const modeOf = (name: string) => fs.statSync(path.join(room.dir, name)).mode & 0o777;
    expect(['bin/tool.sh', 'old.sh', 'n.txt'].map(modeOf)).toEqual([0o751, 0o751, modeOf('plain.txt')]);
  });

  test('writes through a link inside and leaves it a link, and deletes a link itself', async () => {
    const room = createRoom({ 'real/a.txt': 'one\n', 'b.txt': 'b\n' });
    fs.symlinkSync('real', path.join(room.dir, 'dir'));
    fs.symlinkSync('dir/a.txt', path.join(room.dir, 'link'));
    fs.symlinkSync('b.txt', path.join(room.dir, 'gone'));
    const outcome = await room.call(applyPatch, patchOf(...update('link', 'one', 'eins'), '*** Delete File: gone'));
    expect(outcome.note).toBe('Done:\nM real/a.txt\nD gone');
    expect(room.tree()).toEqual({ 'real/a.txt': 'eins\n', 'b.txt': 'b\n', dir: '-> real', link: '-> dir/a.txt' });
    const move = await room.call(applyPatch, patchOf('*** Update File: link', '*** Move to: n.txt'));
    expect(move.note).toContain('link is a symbolic link to real/a.txt: move that file instead');
  });

  test('follows no link out of the workspace, nor a circle, and opens no FIFO', async () => {
    const outside = temporaryFolder();
    writeFiles(outside, { 'victim.txt': 'one\n' });
    const room = createRoom({ 'a.txt': 'one\n' });
    const at = (name: string) => path.join(room.dir, name);
    fs.symlinkSync(path.join(outside, 'victim.txt'), at('link'));
    fs.symlinkSync(outside, at('folder'));
    fs.symlinkSync('../'.repeat(20), at('up'));
    fs.symlinkSync('circle', at('circle'));
    execFileSync('mkfifo', [at('pipe')]);
    for (const name of ['link', 'folder/victim.txt', 'folder/new.txt', `up${outside}/victim.txt`, 'circle', 'pipe']) {
      for (const hunk of [update(name, 'one', 'evil'), [`*** Add File: ${name}`, '+evil']]) {
        expect([name, (await room.call(applyPatch, patchOf(...hunk))).status]).toEqual([name, 'failed']);
      }
    }
    expect(fs.readdirSync(outside)).toEqual(['victim.txt']);
    expect(fs.readFileSync(path.join(outside, 'victim.txt'), 'utf8')).toBe('one\n');
  });

  test('writes below the workspace only, where that is a part of the repository', async () => {
    const room = createRoom({ 'top.txt': 'one\n', 'sub/a.txt': 'one\n' });
    room.ports.workspace = path.join(room.dir, 'sub');
    const inside = await room.call(applyPatch, patchOf(...update('a.txt', 'one', 'eins')));
    expect([inside.note, inside.detail]).toEqual([
      'Done:\nM a.txt',
      { type: 'file_change', changes: [{ path: 'sub/a.txt', kind: 'update' }], error: null },
    ]);
    const outside = await room.call(applyPatch, patchOf(...update('../top.txt', 'one', 'eins')));
    expect(outside.note).toContain('is outside of the workspace');
  });

  test('takes any file name', async () => {
    const name = 'dossier é/-x "q" ファイル $(touch y)';
    const room = createRoom({ [name]: 'one\n' });
    await room.call(applyPatch, patchOf(...update(name, 'one', 'eins')));
    expect(room.tree()).toEqual({ [name]: 'eins\n' });
  });

  test('splits a hard link: the other name keeps its content', async () => {
    const outside = temporaryFolder();
    writeFiles(outside, { 'victim.txt': 'one\n' });
    const room = createRoom();
    fs.linkSync(path.join(outside, 'victim.txt'), path.join(room.dir, 'a.txt'));
    await room.call(applyPatch, patchOf(...update('a.txt', 'one', 'eins')));
    expect(room.tree()).toEqual({ 'a.txt': 'eins\n' });
    expect(fs.readFileSync(path.join(outside, 'victim.txt'), 'utf8')).toBe('one\n');
  });

  test('refuses a file that is too large', async () => {
    const room = createRoom({ big: 'x\n' });
    fs.truncateSync(path.join(room.dir, 'big'), 17 * 1024 ** 2);
    expect((await room.call(applyPatch, patchOf(...update('big', 'x', 'y')))).note).toContain(
      'big is too large to edit',
    );
  });

  test('says when a match was loose and when nothing changed', async () => {
    const room = createRoom({ 'a.txt': '  one\n' });
    expect((await room.call(applyPatch, patchOf(...update('a.txt', 'one', '  two')))).note).toBe(
      'Done:\nM a.txt\na.txt matched only after ignoring differences in indentation: check the result.',
    );
    expect((await room.call(applyPatch, patchOf(...update('a.txt', '  two', '  two')))).note).toBe(
      'Nothing changed: the files already are like that.',
    );
  });

  test('makes a change that git sees as the lines that changed and no others', async () => {
    const room = createRoom({ 'w.txt': 'one\r\ntwo\r\nthree\r\n' });
    git(room.dir, 'init', '-q');
    git(room.dir, 'add', '-A');
    await room.call(applyPatch, patchOf('*** Update File: w.txt', '@@', ' one', '-two', '+zwei'));
    expect(git(room.dir, 'diff', '--numstat')).toBe('1\t1\tw.txt\n');
  });
});
