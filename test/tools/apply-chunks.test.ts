import { describe, expect, test } from 'vitest';
import { applyChunks } from '../../src/tools/apply-chunks.ts';
import { parseFileText, renderFileText } from '../../src/tools/file-text.ts';
import { parsePatch } from '../../src/tools/parse-patch.ts';

/** The file's new bytes as latin1, or the reason why there are none. */
function patched(file: string | Buffer, chunks: string): string {
  const parsed = parsePatch(`*** Begin Patch\n*** Update File: f\n${chunks}\n*** End Patch`);
  const [hunk] = parsed.kind === 'parsed' ? parsed.hunks : [];
  if (hunk?.kind !== 'update') throw new Error(JSON.stringify(parsed));
  const applied = applyChunks(parseFileText(Buffer.from(file)), hunk.chunks);
  return applied.kind === 'failed' ? `! ${applied.reason}` : renderFileText(applied.file).toString();
}

describe('where a chunk goes', () => {
  test.each([
    [
      'is ambiguous in two equal places',
      'x\ny\nx\n',
      '@@\n-x\n+z',
      '! the lines of the chunk at line 3 of the patch match at lines 1, 3: ambiguous. Add context lines or "@@ LINE ABOVE" so that one place is left.',
    ],
    ['is the exact place rather than a looser one', 'x \nx\n', '@@\n-x\n+z', 'x \nz\n'],
    [
      'is ambiguous in two loose places',
      'x \nx  \n',
      '@@\n-x\n+z',
      expect.stringContaining('match at lines 1, 2: ambiguous'),
    ],
    ['is found by lines kept around it', 'a\nx\nb\nx\n', '@@\n b\n-x\n+z', 'a\nx\nb\nz\n'],
    ['is below its context line', 'f:\n  x\ng:\n  x\nh:\n  x\n', '@@ g:\n-  x\n+  z', 'f:\n  x\ng:\n  z\nh:\n  x\n'],
    [
      'is in the indented section of its context',
      'def f():\n  a\n  x\ndef g():\n  a\n  x\n',
      '@@ def f():\n-  x\n+  z',
      'def f():\n  a\n  z\ndef g():\n  a\n  x\n',
    ],
    [
      'is found by nested contexts',
      'class A\n  def f\n    x\nclass B\n  def f\n    x\n',
      '@@ class B\n@@ def f\n-    x\n+    z',
      'class A\n  def f\n    x\nclass B\n  def f\n    z\n',
    ],
    [
      'is ambiguous below an ambiguous context',
      'f:\n  x\nf:\n  x\n',
      '@@ f:\n-  x\n+  z',
      expect.stringContaining('match at lines 2, 4: ambiguous'),
    ],
    [
      'is ambiguous twice in one section',
      'f:\n  a\n  x\n  x\n',
      '@@ f:\n-  x\n+  z',
      expect.stringContaining('match at lines 3, 4: ambiguous'),
    ],
    [
      'may follow a chunk below the same context line',
      'def f():\n  a\n  b\nx\n',
      '@@ def f():\n-  a\n+  1\n@@ def f():\n-  b\n+  2',
      'def f():\n  1\n  2\nx\n',
    ],
    ['is settled by the chunk after it', 'x\ny\nx\n', '@@\n-x\n+1\n@@\n-y\n+2', '1\n2\nx\n'],
    ['is settled by the chunk before it', 'x\ny\nx\n', '@@\n-y\n+2\n@@\n-x\n+1', 'x\n2\n1\n'],
    ['is settled where both places are named', 'x\ny\nx\n', '@@\n-x\n+1\n@@\n-x\n+2', '1\ny\n2\n'],
    ['may share kept lines with its neighbour', 'a\nm\nb\n', '@@\n-a\n+1\n m\n@@\n m\n-b\n+2', '1\nm\n2\n'],
    ['is the end of the file when it says so', 'x\ny\nx\n', '@@\n-x\n+z\n*** End of File', 'x\ny\nz\n'],
    ['is elsewhere when the end of the file does not match', 'x\ny\n', '@@\n-x\n+z\n*** End of File', 'z\ny\n'],
    ['is the end of the file for added lines alone', 'a\nb\n', '@@\n+c', 'a\nb\nc\n'],
    ['is right below the context line for added lines alone', 'a\nb\n', '@@ a\n+c', 'a\nc\nb\n'],
    ['is the end of the file wherever the bare addition stands', 'a\nb\n', '@@\n+c\n@@\n-a\n+1', '1\nb\nc\n'],
    ['does without an empty line at its end', 'a\nb\n', '@@\n-a\n+1\n\n', '1\nb\n'],
    [
      'is an error out of order',
      'a\nb\n',
      '@@\n-b\n+2\n@@\n-a\n+1',
      '! the lines of the chunk at line 6 of the patch match at line 1, but not below line 2, where the context or the chunk before ends. Give chunks in the order of the file.',
    ],
  ])('%s', (_, file, chunks, expected) => {
    expect(patched(file, chunks)).toEqual(expected);
  });
});

describe('what a match overlooks', () => {
  test.each([
    ['trailing white space', 'a \t\nb\n', '@@\n a\n-b\n+B', 'a \t\nB\n'],
    ['indentation', '\tif x:\n\t\ty\n', '@@\n if x:\n-  y\n+\t\tz', '\tif x:\n\t\tz\n'],
    ['typographic punctuation', '“a” – b\u00a0c\nd\n', '@@\n "a" - b c\n-d\n+D', '“a” – b\u00a0c\nD\n'],
    ['a byte order mark', '\ufeffa\nb\n', '@@\n-a\n+A', '\ufeffA\nb\n'],
    ['a byte order mark in the patch', '\ufeffa\nb\n', '@@\n-\ufeffa\n+\ufeffA', '\ufeffA\nb\n'],
  ])('%s, and keeps the lines it only matches', (_, file, chunks, expected) => {
    expect(patched(file, chunks)).toBe(expected);
  });

  test('keeps bytes that are not UTF-8', () => {
    const file = Buffer.from('caf\xe9\nb\r\nna\xefve\n', 'latin1');
    const parsed = parsePatch('*** Begin Patch\n*** Update File: f\n@@\n-b\n+bé\n*** End Patch');
    const [hunk] = parsed.kind === 'parsed' ? parsed.hunks : [];
    const applied = applyChunks(parseFileText(file), hunk?.kind === 'update' ? hunk.chunks : []);
    if (applied.kind === 'failed') throw new Error(applied.reason);
    expect(renderFileText(applied.file)).toEqual(Buffer.from('caf\xe9\nb\xc3\xa9\r\nna\xefve\n', 'latin1'));
  });
});

describe('line ends', () => {
  test.each([
    ['CRLF of the neighbours', 'a\r\nb\r\n', '@@\n-a\n+1\n+2', '1\r\n2\r\nb\r\n'],
    ['those of the line above in a mixed file', 'a\r\nb\nc\n', '@@\n a\n+1\n b\n+2', 'a\r\n1\r\nb\n2\nc\n'],
    ['CR alone', 'a\rb\r', '@@\n-b\n+B', 'a\rB\r'],
    ['none at the end where the last line stays', 'a\nb', '@@\n-a\n+A', 'A\nb'],
    ['a new one where the last line is replaced', 'a\nb', '@@\n-b\n+B', 'a\nB\n'],
    ['a new one where lines are added below the last', 'a\r\nb', '@@\n b\n+c', 'a\r\nb\r\nc\r\n'],
    ['those of the last line left', 'a\nb', '@@\n-b', 'a\n'],
    ['several empty lines at the end', 'a\n\n\n', '@@\n-a\n+A', 'A\n\n\n'],
    ['no bytes when all lines go', 'a\n', '@@\n-a', ''],
    ['those of an empty file', '', '@@\n+a', 'a\n'],
  ])('are %s', (_, file, chunks, expected) => {
    expect(patched(file, chunks)).toBe(expected);
  });
});

describe('what is said where lines are not found', () => {
  test('names the nearest place with the first line that differs', () => {
    const file = Array.from({ length: 40 }, (_, n) => `value ${n} = ${n * n}\n`).join('');
    expect(patched(file, '@@\n value 20 = 400\n-value 21 = 440\n+value 21 = 442\n value 22 = 484')).toBe(
      [
        '! the lines of the chunk at line 3 of the patch are not in the file. The nearest place starts at line 21: line 22 is "value 21 = 441", expected "value 21 = 440". The file has:',
        '19: value 18 = 324',
        '20: value 19 = 361',
        '21: value 20 = 400',
        '22: value 21 = 441',
        '23: value 22 = 484',
      ].join('\n'),
    );
  });

  test('finds a single line by its words', () => {
    expect(patched('a\nconst total = sum(list);\nb\n', '@@\n-const total = sum(lists)\n+x')).toContain(
      'line 2 is "const total = sum(list);", expected "const total = sum(lists)"',
    );
  });

  test.each([
    [
      'a context line',
      'def f():\n  x\n',
      '@@ def g():\n-  x\n+  y',
      'the context "@@ def g():" at line 3 of the patch is not in the file',
    ],
    ['nothing like it', 'a\n', '@@\n-completely different\n+x', 'Nothing in the file is like it. Read the file again.'],
    ['an empty file', '', '@@\n-x\n+y', 'Nothing in the file is like it'],
    ['lines that lie before the file', 'a\nb\n', '@@\n zero\n-a\n+A', 'line 1 is "a", expected "zero"'],
    ['lines beyond the end', 'a\nb\n', '@@\n a\n-b\n+B\n c', "line 3 is beyond the file's 2 lines"],
  ])('tells of %s', (_, file, chunks, expected) => {
    expect(patched(file, chunks)).toContain(expected);
  });

  test('stays short for long lines and large files', () => {
    const file = Array.from({ length: 20_000 }, (_, n) => `${'x'.repeat(200)} ${n % 7}\n`).join('');
    expect(patched(file, `@@\n-${'x'.repeat(200)} 9\n+y`).length).toBeLessThan(3000);
  });
});
