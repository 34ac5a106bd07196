import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../src/tools/parse-patch.ts';

const wrap = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`;
const hunksOf = (text: string) => {
  const parsed = parsePatch(text);
  return parsed.kind === 'parsed' ? parsed.hunks : parsed.reason;
};
const UPDATE = {
  kind: 'update',
  path: 'a.txt',
  moveTo: null,
  chunks: [
    {
      contexts: [],
      lines: [
        { op: '-', text: 'x' },
        { op: '+', text: 'y' },
      ],
      endOfFile: false,
      line: 3,
    },
  ],
};

describe('parsePatch', () => {
  test('reads every kind of hunk', () => {
    const text = wrap(
      '*** Add File: n e w.txt\n+one\n+\n*** Delete File: old\n*** Update File: a\n*** Move to: b\n@@ class A\n@@   def f():\n kept\n-out\n+in\n*** End of File',
    );
    expect(hunksOf(text)).toEqual([
      { kind: 'add', path: 'n e w.txt', lines: ['one', ''] },
      { kind: 'delete', path: 'old' },
      {
        kind: 'update',
        path: 'a',
        moveTo: 'b',
        chunks: [
          {
            contexts: ['class A', '  def f():'],
            lines: [
              { op: ' ', text: 'kept' },
              { op: '-', text: 'out' },
              { op: '+', text: 'in' },
            ],
            endOfFile: true,
            line: 8,
          },
        ],
      },
    ]);
  });

  test.each([
    ['padded markers', ' *** Begin Patch \n*** Update File: a.txt\n@@\n-x\n+y\n  *** End Patch\t\n'],
    ['a padded header', wrap('   *** Update File:   a.txt  \n@@\n-x\n+y')],
    ['CRLF line ends', wrap('*** Update File: a.txt\n@@\n-x\n+y').replaceAll('\n', '\r\n')],
    ['empty lines around', `\n\n${wrap('*** Update File: a.txt\n@@\n-x\n+y')}\n\n`],
    ['line numbers of a unified diff', wrap('*** Update File: a.txt\n@@ -1,2 +1,2 @@ fn\n-x\n+y')],
  ])('tolerates %s', (_, text) => {
    const hunks = hunksOf(text);
    expect(hunks).toEqual([{ ...UPDATE, chunks: [{ ...UPDATE.chunks[0], line: expect.any(Number) }] }]);
  });

  test.each(['<<EOF', "<<'EOF'", '<<"EOF"', "apply_patch <<'EOF'"])('unwraps a heredoc that starts with %s', (head) => {
    expect(hunksOf(`${head}\n${wrap('*** Delete File: a')}\nEOF\n`)).toEqual([{ kind: 'delete', path: 'a' }]);
  });

  test('does without @@ in the first chunk and skips the environment line', () => {
    const hunks = hunksOf('*** Begin Patch\n*** Environment ID: e1\n*** Update File: a.txt\n-x\n+y\n*** End Patch');
    expect(hunks).toEqual([{ ...UPDATE, chunks: [{ ...UPDATE.chunks[0], line: 4 }] }]);
  });

  test('takes an empty line in a chunk as an empty line that is kept', () => {
    const hunks = hunksOf(wrap('*** Update File: a.txt\n@@\n-x\n\n+y'));
    const lines = [
      { op: '-', text: 'x' },
      { op: ' ', text: '' },
      { op: '+', text: 'y' },
    ];
    expect(hunks).toEqual([{ ...UPDATE, chunks: [{ ...UPDATE.chunks[0], lines }] }]);
  });

  test('takes lines that look like markers as content where they have a prefix', () => {
    const hunks = hunksOf(wrap('*** Update File: a.txt\n@@\n-*** End Patch\n+@@ x\n *** Add File: y'));
    const lines = [
      { op: '-', text: '*** End Patch' },
      { op: '+', text: '@@ x' },
      { op: ' ', text: '*** Add File: y' },
    ];
    expect(hunks).toEqual([{ ...UPDATE, chunks: [{ ...UPDATE.chunks[0], lines }] }]);
  });

  test.each([
    ['', 'the first line must be "*** Begin Patch", it is ""'],
    ['hello', 'the first line must be "*** Begin Patch", it is "hello"'],
    ['*** Begin Patch\n*** Add File: a\n+x', 'the last line must be "*** End Patch", it is "+x": nothing was applied'],
    ['*** Begin Patch', 'the last line must be "*** End Patch", it is "*** Begin Patch": nothing was applied'],
    ['*** Begin Patch\n*** End Patch', 'the patch is empty: it names no file'],
    [
      wrap('*** Frobnicate File: a'),
      'line 2: "*** Frobnicate File: a" is no header; use "*** Add File: PATH", "*** Delete File: PATH" or "*** Update File: PATH"',
    ],
    [wrap('*** Add File:'), 'line 2: "*** Add File:" names no file'],
    [wrap('*** Update File: a'), 'line 2: the update of a has no chunk'],
    [wrap('*** Update File: a\n@@'), 'line 3: the chunk has no lines'],
    [wrap('*** Update File: a\n@@\nfoo'), 'line 4: "foo" must start with " " (kept), "+" (added) or "-" (removed)'],
    [wrap('*** Update File: a\n@@\n-x\nfoo'), 'line 5: "foo" must start with "@@", " ", "+" or "-"'],
    [
      wrap('*** Add File: a\n+x\nfoo'),
      'line 4: "foo" is no header; use "*** Add File: PATH", "*** Delete File: PATH" or "*** Update File: PATH"',
    ],
  ])('rejects %j with the line', (text, reason) => {
    expect(parsePatch(text)).toEqual({ kind: 'invalid', reason });
  });

  test('never throws, whatever the text', () => {
    const piece = fc.constantFrom(
      ...[
        '*** Begin Patch',
        '*** End Patch',
        '*** Add File: ',
        '*** Update File: ',
        '*** Delete File: a',
        '*** Move to: b',
      ],
      ...['@@', '@@ x', '+', '-', ' ', 'x', '\n', '\r\n', '\n', '*** End of File', '<<EOF', 'EOF', '\0', '\ud800', ' '],
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (body) => {
        for (const one of [body, wrap(body)]) expect(['parsed', 'invalid']).toContain(parsePatch(one).kind);
      }),
      { numRuns: 2000 },
    );
  });
});
