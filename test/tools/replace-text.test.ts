import * as fs from 'node:fs';
import * as path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceBytes } from '../../src/tools/replace-bytes.ts';
import { replaceText } from '../../src/tools/replace-text.ts';
import { writeFile } from '../../src/tools/write-file.ts';
import { createRoom, temporaryFolder } from './room.ts';

function replaced(file: string, from: string, to: string, all = false): string {
  const result = replaceBytes(Buffer.from(file), { from, to, all });
  return result.kind === 'failed' ? `! ${result.reason}` : result.bytes.toString();
}

describe('replaceBytes', () => {
  test.each([
    ['takes text literally', 'a.c abc', 'a.c', "$& $1 $$ $'", "$& $1 $$ $' abc"],
    [
      'matches CRLF by a newline and keeps it',
      'one\r\ntwo\r\nthree\r\n',
      'one\ntwo',
      'eins\nzwei',
      'eins\r\nzwei\r\nthree\r\n',
    ],
    ['matches LF by CRLF', 'one\ntwo\n', 'one\r\ntwo', 'eins\r\nzwei', 'eins\nzwei\n'],
    ['gives new lines the ends around them', 'a\r\nb\r\n', 'a', 'a\nx', 'a\r\nx\r\nb\r\n'],
    ['keeps mixed line ends that it only matches', 'a\r\nb\nc\r\nd', 'a\nb\nc', 'a\nB\nc', 'a\r\nB\nc\r\nd'],
    ['takes the end of the line above at the last line', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
    ['removes a line end', 'a\r\nb\r\n', 'a\n', '', 'b\r\n'],
    ['keeps a byte order mark', '\ufeffa\n', 'a', 'b', '\ufeffb\n'],
    ['finds half an emoji nowhere but in it', '😀😁', '😁', '😂', '😀😂'],
  ])('%s', (_, file, from, to, expected) => {
    expect(replaced(file, from, to)).toBe(expected);
  });

  test('replaces all from left to right', () => {
    expect(replaced('aaaa', 'aa', 'b', true)).toBe('bb');
    expect(replaced('x\r\nx\n', 'x\n', 'y\n', true)).toBe('y\r\ny\n');
  });

  test.each([
    ['a\nx\nb\nx\n', 'x', 'old_text stands at lines 2, 4: ambiguous. Take in more lines around it, or set all.'],
    ['aaa', 'aa', 'old_text stands at lines 1: ambiguous'],
    ['x\n'.repeat(50), 'x', 'old_text stands at lines 1, 2, 3, 4, 5, 6, 7, 8, …: ambiguous'],
    [
      'value = compute(a, b)\n',
      'value = compute(a, c)',
      'old_text is not in the file. The nearest place starts at line 1: line 1 is "value = compute(a, b)", expected "value = compute(a, c)".',
    ],
    ['  indented\n', 'x\nindented', 'old_text is not in the file. The nearest place starts at line 1'],
  ])('fails for %j and %j', (file, from, reason) => {
    expect(replaced(file, from, 'new')).toContain(`! ${reason}`);
  });

  test('keeps bytes that are not UTF-8', () => {
    const result = replaceBytes(Buffer.from('caf\xe9 b', 'latin1'), { from: 'b', to: 'é', all: false });
    expect(result).toEqual({ kind: 'replaced', bytes: Buffer.from('caf\xe9 \xc3\xa9', 'latin1'), count: 1 });
  });

  test('does not make a file of any size', () => {
    expect(replaced('x'.repeat(100_000), 'x', 'y'.repeat(100_000), true)).toContain('the result would be larger than');
  });

  test('equals a plain replacement where line ends are \\n, and leaves what is around untouched where they are mixed', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '\n', '\r\n', 'é', '😀'), { maxLength: 20 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, text, (head, from, to) => {
        const [wanted, wish] = [`<${from}>`.replaceAll('\r', ''), to.replaceAll('\r', '')];
        const plain = head.replaceAll('\r', '');
        expect(replaced(`${plain}${wanted}${plain}`, wanted, wish)).toBe(`${plain}${wish}${plain}`);
        const mixed = replaced(`${head}<${from}>${head}`, wanted, wish);
        expect(mixed.startsWith(head)).toBe(true);
        expect(mixed.endsWith(head)).toBe(true);
        expect(mixed.replaceAll('\r', '')).toBe(`${plain}${wish}${plain}`);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('replace_text', () => {
  test('changes the file and tells so', async () => {
    const room = createRoom({ 'sub/a.sh': 'one\n' });
    fs.chmodSync(path.join(room.dir, 'sub/a.sh'), 0o755);
    const outcome = await room.call(replaceText, { path: 'sub/a.sh', old_text: 'one', new_text: 'two' });
    expect(outcome).toEqual({
      status: 'completed',
      output: '',
      note: 'Done:\nM sub/a.sh',
      detail: { type: 'file_change', changes: [{ path: 'sub/a.sh', kind: 'update' }], error: null },
    });
    expect(room.tree()).toEqual({ 'sub/a.sh': 'x:two\n' });
  });

  test('says how many places there were', async () => {
    const room = createRoom({ 'a.txt': 'x\nx\n' });
    const input = { path: 'a.txt', old_text: 'x', new_text: 'y', all: true };
    expect((await room.call(replaceText, input)).note).toBe('Done:\nM a.txt\n2 places were replaced.');
  });

  test.each([
    ['a.txt', '', 'old_text is empty: use write_file for a new file.'],
    ['none.txt', 'x', 'none.txt does not exist'],
    ['blob', 'x', 'blob is a binary file: only text can be replaced'],
    ['dir', 'x', 'dir is a folder'],
    ['../a.txt', 'x', '../a.txt: is outside of the repository'],
  ])('changes nothing in %s for %j', async (name, old_text, reason) => {
    const room = createRoom({ 'a.txt': 'a\n', blob: Buffer.from('x\0'), 'dir/b': 'b' });
    const before = room.tree();
    const outcome = await room.call(replaceText, { path: name, old_text, new_text: 'y' });
    expect([outcome.status, outcome.note, room.tree()]).toEqual(['failed', `Nothing was changed. ${reason}`, before]);
  });
});

describe('write_file', () => {
  test('creates a file with its folders', async () => {
    const room = createRoom();
    const outcome = await room.call(writeFile, { path: 'new/dir/a.txt', content: 'a\r\nb' });
    expect(outcome.detail).toEqual({
      type: 'file_change',
      changes: [{ path: 'new/dir/a.txt', kind: 'add' }],
      error: null,
    });
    expect(room.tree()).toEqual({ 'new/dir/a.txt': 'a\r\nb' });
  });

  test('replaces a file, keeps its mode and a link to it', async () => {
    const room = createRoom({ 'a.sh': 'a' });
    fs.chmodSync(path.join(room.dir, 'a.sh'), 0o755);
    fs.symlinkSync('a.sh', path.join(room.dir, 'link'));
    const outcome = await room.call(writeFile, { path: 'link', content: 'é' });
    expect([outcome.note, room.tree()]).toEqual(['Done:\nM a.sh', { 'a.sh': 'x:\u00c3\u00a9', link: '-> a.sh' }]);
  });

  test('writes nothing outside, nothing protected and nothing over a folder', async () => {
    const outside = temporaryFolder();
    const access = (name: string) => ({ hidden: false, protectedBy: name === 'belay.yml' ? 'belay.yml' : null });
    const room = createRoom({ 'dir/a': 'a', 'belay.yml': 'v' }, { access });
    fs.symlinkSync(outside, path.join(room.dir, 'out'));
    const before = room.tree();
    const statuses: string[] = [];
    for (const name of ['dir', '.', '', '..', `${outside}/a`, 'out/a', '.git/config', 'belay.yml']) {
      statuses.push((await room.call(writeFile, { path: name, content: 'x' })).status);
    }
    expect(statuses).toEqual([...Array(7).fill('failed'), 'declined']);
    expect([room.tree(), fs.readdirSync(outside)]).toEqual([before, []]);
  });

  test('takes a protected link for protected, wherever it leads', async () => {
    const access = (name: string) => ({ hidden: false, protectedBy: name.startsWith('guard/') ? 'guard/**' : null });
    const room = createRoom({ 'free.txt': 'a', 'guard/a': 'a' }, { access });
    fs.symlinkSync('../free.txt', path.join(room.dir, 'guard/link'));
    const outcome = await room.call(writeFile, { path: 'guard/link', content: 'x' });
    expect([outcome.status, room.tree()['free.txt']]).toEqual(['declined', 'a']);
  });

  test('does nothing when the run is ending', async () => {
    const room = createRoom();
    const outcome = await room.call(writeFile, { path: 'a', content: 'a' }, AbortSignal.abort());
    expect([outcome.status, room.tree()]).toEqual(['cancelled', {}]);
  });
});
