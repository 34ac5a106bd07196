/** One position of a path segment: a character that must be there, any one, any run, or one of a set. */
export type SegmentToken =
  | { kind: 'literal'; character: string }
  | { kind: 'any' }
  | { kind: 'run' }
  | { kind: 'set'; negated: boolean; ranges: readonly (readonly [number, number])[] };

/** Reads a segment (text between two `/`) of a glob. An unclosed `[` stands for itself. */
export function parseSegment(text: string): readonly SegmentToken[] {
  const characters = Array.from(text);
  const tokens: SegmentToken[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'run') tokens.push({ kind: 'run' });
    } else if (character === '?') {
      tokens.push({ kind: 'any' });
    } else if (character === '\\' && at + 1 < characters.length) {
      at++;
      tokens.push({ kind: 'literal', character: characters[at] ?? '' });
    } else {
      const set = character === '[' ? parseSet(characters, at) : null;
      tokens.push(set?.token ?? { kind: 'literal', character });
      if (set !== null) at = set.end;
    }
  }
  return tokens;
}

function parseSet(characters: readonly string[], open: number): { token: SegmentToken; end: number } | null {
  let at = open + 1;
  const negated = characters[at] === '!' || characters[at] === '^';
  if (negated) at++;
  const ranges: [number, number][] = [];
  for (let first = true; at < characters.length; first = false) {
    if (characters[at] === ']' && !first) return { token: { kind: 'set', negated, ranges }, end: at };
    const low = setMember(characters, at);
    at = low.next;
    let high = low.code;
    if (characters[at] === '-' && at + 1 < characters.length && characters[at + 1] !== ']') {
      const member = setMember(characters, at + 1);
      high = member.code;
      at = member.next;
    }
    ranges.push([low.code, high]);
  }
  return null;
}

function setMember(characters: readonly string[], at: number): { code: number; next: number } {
  const escaped = characters[at] === '\\' && at + 1 < characters.length;
  return { code: (characters[escaped ? at + 1 : at] ?? '').codePointAt(0) ?? 0, next: at + (escaped ? 2 : 1) };
}

/** Whether the whole segment fits. At worst length × tokens steps: a mismatch goes back to the last run only. */
export function matchSegment(tokens: readonly SegmentToken[], characters: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let runToken = -1;
  let runAt = 0;
  while (at < characters.length) {
    const wanted = tokens[token];
    if (wanted?.kind === 'run') {
      runToken = token++;
      runAt = at;
    } else if (wanted !== undefined && fits(wanted, characters[at] ?? '')) {
      token++;
      at++;
    } else if (runToken >= 0) {
      token = runToken + 1;
      at = ++runAt;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'run') token++;
  return token === tokens.length;
}

function fits(token: SegmentToken, character: string): boolean {
  if (token.kind === 'literal') return token.character === character;
  if (token.kind !== 'set') return true;
  const code = character.codePointAt(0) ?? 0;
  return token.ranges.some(([low, high]) => code >= low && code <= high) !== token.negated;
}
