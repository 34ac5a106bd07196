import { carriageReturnAt, encodedFor, type FileText } from './file-text.ts';
import type { PassName } from './match-lines.ts';
import type { Chunk } from './parse-patch.ts';
import { type PlacedChunk, placeChunks } from './place-chunks.ts';

/** `loosest`: how much the matches had to overlook. */
export type AppliedChunks = { kind: 'applied'; file: FileText; loosest: PassName } | { kind: 'failed'; reason: string };

const LOOSENESS: readonly PassName[] = ['exact', 'trailing white space', 'indentation', 'punctuation'];

/**
 * The file with all chunks in their places. Lines that are only matched keep their bytes; added lines end as their
 * neighbours do. A last line without a newline stays so unless it is replaced: then the new one gets a newline.
 */
export function applyChunks(file: FileText, chunks: readonly Chunk[]): AppliedChunks {
  const placement = placeChunks(file, chunks);
  if (placement.kind === 'failed') return placement;
  const loosest = placement.chunks.reduce<PassName>(
    (worst, chunk) => (LOOSENESS.indexOf(chunk.pass) > LOOSENESS.indexOf(worst) ? chunk.pass : worst),
    'exact',
  );
  // Bare additions to the end of the file come last wherever they stand in the patch.
  const inOrder = [...placement.chunks].sort((a, b) => changeStart(a) - changeStart(b));
  return { kind: 'applied', file: rebuild(file, inOrder), loosest };
}

function changeStart({ lines, start }: PlacedChunk): number {
  const change = lines.findIndex((line) => line.op !== ' ');
  return start + (change === -1 ? lines.length : change);
}

function rebuild(file: FileText, chunks: readonly PlacedChunk[]): FileText {
  const lines: string[] = [];
  const last = file.lines.length - 1;
  let next = 0;
  let endsUnterminated = false;
  const keepUntil = (end: number): void => {
    for (; next < end; next += 1) {
      lines.push(file.lines[next] ?? '');
      endsUnterminated = next === last && !file.endsWithNewline;
    }
  };
  for (const chunk of chunks) {
    let at = chunk.start;
    for (const { op, text } of chunk.lines) {
      if (op === '+') {
        keepUntil(at);
        const cr = carriageReturnAt(file, at);
        if (endsUnterminated) lines.push((lines.pop() ?? '') + cr);
        endsUnterminated = false;
        lines.push(encodedFor(file, text) + cr);
      } else {
        if (op === '-') {
          keepUntil(at);
          next = at + 1;
        }
        at += 1;
      }
    }
  }
  keepUntil(file.lines.length);
  return { ...file, lines, endsWithNewline: !endsUnterminated };
}
