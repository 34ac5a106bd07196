import * as fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyChunks } from '../../src/tools/apply-chunks.ts';
import { applyPatch } from '../../src/tools/apply-patch.ts';
import { parseFileText, renderFileText } from '../../src/tools/file-text.ts';
import { parsePatch } from '../../src/tools/parse-patch.ts';
import { createRoom, writeFiles } from './room.ts';

/** A file as lines that are all different, and what becomes of each: the truth that patches are made from. */
interface Case {
  lines: { text: string; keep: boolean; added: string[] }[];
  eol: '\n' | '\r\n';
  hasBom: boolean;
  endsWithNewline: boolean;
  context: number;
}

const words = fc.constantFrom<string>(
  '',
  ' x',
  '\tif (a) {',
  '}',
  'naïve – “q”',
  '*** End Patch',
  '@@',
  '$&',
  '\\',
  'trailing  ',
);
const anyCase: fc.Arbitrary<Case> = fc.record({
  lines: fc
    .array(
      fc.record({
        word: words,
        keep: fc.boolean(),
        added: fc.oneof(
          { weight: 3, arbitrary: fc.constant<string[]>([]) },
          { weight: 1, arbitrary: fc.array(words, { maxLength: 3 }) },
        ),
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((lines) => lines.map(({ word, keep, added }, at) => ({ text: `${word} #${at}`, keep, added }))),
  eol: fc.constantFrom('\n', '\r\n'),
  hasBom: fc.boolean(),
  endsWithNewline: fc.boolean(),
  context: fc.integer({ min: 1, max: 4 }),
});
/** A file of one line without an end does not say how its lines end: then it is `\n`. */
const caseOf = anyCase.map((one): Case => {
  const isMute = one.lines.length === 1 && !one.endsWithNewline;
  return isMute ? { ...one, eol: '\n' } : one;
});

function before({ lines, eol, hasBom, endsWithNewline }: Case): string {
  return `${hasBom ? '\ufeff' : ''}${lines.map((line) => line.text).join(eol)}${endsWithNewline ? eol : ''}`;
}

function after({ lines, eol, hasBom, endsWithNewline }: Case): string {
  const last = lines.at(-1);
  const isLastUntouched = last?.keep === true && last.added.length === 0;
  const kept = lines.flatMap(({ text, keep, added }) => [...(keep ? [text] : []), ...added]);
  const end = kept.length > 0 && (endsWithNewline || !isLastUntouched) ? eol : '';
  return `${hasBom ? '\ufeff' : ''}${kept.join(eol)}${end}`;
}

/** Chunks with some lines of context; changes that are near to each other share one. */
function chunksOf({ lines, context }: Case): string[] {
  const isChanged = (at: number): boolean => {
    const line = lines[at];
    return line !== undefined && (!line.keep || line.added.length > 0);
  };
  const isShown = lines.map((_, at) => lines.some((__, other) => isChanged(other) && Math.abs(other - at) <= context));
  return lines.flatMap(({ text, keep, added }, at) => {
    if (!isShown[at]) return [];
    const header = isShown[at - 1] ? [] : ['@@'];
    return [...header, `${keep ? ' ' : '-'}${text}`, ...added.map((line) => `+${line}`)];
  });
}

function patchText(chunks: readonly string[]): string {
  return ['*** Begin Patch', '*** Update File: f', ...chunks, '*** End Patch'].join('\n');
}

/** The new text of a file, null when the patch does not apply. */
function patched(file: string, patch: string): string | null {
  const parsed = parsePatch(patch);
  const [hunk] = parsed.kind === 'parsed' ? parsed.hunks : [];
  if (hunk?.kind !== 'update') return null;
  const applied = applyChunks(parseFileText(Buffer.from(file)), hunk.chunks);
  return applied.kind === 'failed' ? null : renderFileText(applied.file).toString();
}

const mutation = fc.record({
  kind: fc.constantFrom('drop', 'double', 'swap', 'blur', 'cut'),
  at: fc.nat(),
  other: fc.nat(),
});

function mutate(text: string, { kind, at, other }: { kind: string; at: number; other: number }): string {
  const lines = text.split('\n');
  const [i, j] = [at % lines.length, other % lines.length];
  const [line, second] = [lines[i] ?? '', lines[j] ?? ''];
  if (kind === 'cut') return text.slice(0, at % text.length);
  if (kind === 'drop') lines.splice(i, 1);
  else if (kind === 'double') lines.splice(i, 0, line);
  else if (kind === 'blur') lines[i] = line.replace(/\S/u, '?');
  else [lines[i], lines[j]] = [second, line];
  return lines.join('\n');
}

test('a patch made from a change makes exactly that change, whatever line ends, mark or last line (10,000 cases)', () => {
  fc.assert(
    fc.property(caseOf, (one) => {
      const chunks = chunksOf(one);
      fc.pre(chunks.length > 0);
      expect(patched(before(one), patchText(chunks))).toBe(after(one));
    }),
    { numRuns: 10_000 },
  );
});

test('a patch that was damaged never throws, and lines that it does not name keep their bytes (10,000 cases)', () => {
  fc.assert(
    fc.property(caseOf, fc.array(mutation, { minLength: 1, maxLength: 3 }), (one, mutations) => {
      const patch = mutations.reduce(mutate, patchText(chunksOf(one)));
      const result = patched(before(one), patch);
      if (result === null) return;
      const patchLines = patch.split('\n').map((line) => line.slice(1).trim());
      const unnamed = one.lines.map((line) => line.text).filter((text) => !patchLines.includes(text.trim()));
      const left = result.replace(/^\ufeff/u, '').split(one.eol);
      expect(left.filter((line) => unnamed.includes(line))).toEqual(unnamed);
      expect(result.startsWith('\ufeff')).toBe(one.hasBom);
    }),
    { numRuns: 10_000 },
  );
});

test('where lines repeat, a patch changes the place that it can only mean, or nothing', () => {
  const line = fc.constantFrom<string>('a', 'b', 'c');
  const lines = fc.array(line, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(lines, fc.nat(), fc.nat(3), fc.nat(3), (file, seed, above, below) => {
      const at = seed % file.length;
      const from = Math.max(0, at - above);
      const chunk = file.slice(from, at + below + 1);
      const places = file.filter((_, start) => chunk.every((text, offset) => file[start + offset] === text)).length;
      const body = chunk.map((text, offset) => (offset === at - from ? `-${text}\n+NEW` : ` ${text}`));
      const expected = places === 1 ? `${file.with(at, 'NEW').join('\n')}\n` : null;
      expect(patched(`${file.join('\n')}\n`, patchText(['@@', ...body]))).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('a damaged patch over several files applies whole or leaves the tree as it was', async () => {
  const room = createRoom();
  await fc.assert(
    fc.asyncProperty(caseOf, caseOf, fc.array(mutation, { maxLength: 2 }), async (one, two, mutations) => {
      fs.rmSync(room.dir, { recursive: true });
      fs.mkdirSync(room.dir);
      writeFiles(room.dir, { 'one.txt': before(one), 'two.txt': before(two), 'old.txt': 'old\n' });
      const tree = room.tree();
      const intact = [
        ...['*** Begin Patch', '*** Add File: new/n.txt', '+n', '*** Delete File: old.txt'],
        ...['*** Update File: one.txt', '*** Move to: three.txt', ...chunksOf(one), '*** Update File: two.txt'],
        ...[...chunksOf(two), '*** End Patch'],
      ].join('\n');
      const outcome = await room.call(applyPatch, { patch: mutations.reduce(mutate, intact) });
      if (outcome.status === 'completed') {
        if (mutations.length > 0) return;
        const expected = { 'new/n.txt': 'n\n', 'three.txt': after(one), 'two.txt': after(two) };
        const bytes = Object.entries(expected).map(([name, text]) => [name, Buffer.from(text).toString('latin1')]);
        expect(room.tree()).toEqual(Object.fromEntries(bytes));
      } else {
        expect(outcome.status).toBe('failed');
        expect(room.tree()).toEqual(tree);
        if (mutations.length === 0) expect(chunksOf(two)).toEqual([]);
      }
    }),
    { numRuns: 120 },
  );
});
