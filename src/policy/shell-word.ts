import type { Assignment, DoubleQuotedChild, Word, WordPart } from 'unbash';

/**
 * A word of a command as far as it can be known without running it. Of an unknown one the text before and after the first and
 * last unknown part is; `splits`: it may become no word or several.
 */
export type ShellWord =
  | { known: true; text: string }
  | { known: false; prefix: string; suffix: string; splits: boolean; source: string };

export const ANY_WORDS: ShellWord = { known: false, prefix: '', suffix: '', splits: true, source: '…' };

interface Piece {
  text: string | null;
  splits: boolean;
}

export function evaluateWord(word: Word | Assignment): ShellWord {
  const pieces = word.type === 'Word' ? wordPieces(word) : assignmentPieces(word);
  const first = pieces.findIndex((piece) => piece.text === null);
  if (first < 0) return { known: true, text: joined(pieces) };
  const last = pieces.findLastIndex((piece) => piece.text === null);
  return {
    known: false,
    prefix: joined(pieces.slice(0, first)),
    suffix: joined(pieces.slice(last + 1)),
    splits: pieces.some((piece) => piece.splits),
    source: word.text,
  };
}

export function renderWord(word: ShellWord): string {
  return word.known ? word.text : word.source;
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.text ?? '').join('');
}

function wordPieces(word: Word): readonly Piece[] {
  return word.parts === undefined ? [{ text: word.value, splits: false }] : word.parts.flatMap(partPieces);
}

function assignmentPieces(assignment: Assignment): readonly Piece[] {
  if (assignment.value.type === 'ArrayValue' || assignment.index !== undefined) return [{ text: null, splits: false }];
  const values = wordPieces(assignment.value).map((piece) => ({ ...piece, splits: false }));
  return [{ text: `${assignment.name}${assignment.append === true ? '+=' : '='}`, splits: false }, ...values];
}

function partPieces(part: WordPart): readonly Piece[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ text: part.value, splits: false }];
    case 'DoubleQuoted':
      return part.parts.map(quotedPiece);
    case 'LocaleString':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return [{ text: null, splits: false }];
    default:
      return [{ text: null, splits: true }];
  }
}

function quotedPiece(part: DoubleQuotedChild): Piece {
  if (part.type === 'Literal') return { text: part.value, splits: false };
  // "$@" and "${list[@]}" are as many words as there are elements, quoted or not
  const elements = part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion';
  return { text: null, splits: elements && part.text.includes('@') };
}
