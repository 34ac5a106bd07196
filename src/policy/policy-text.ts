import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  Parser,
} from 'yaml';
import { printable } from './printable.ts';

/** A hostile text must cost little: no policy needs a tenth of any of these. */
const MAX_LEXEMES = 50_000;
const MAX_DEPTH = 64;
const MAX_VALUES = 50_000;
/** What follows the first one is mostly told because of it. */
const MAX_SYNTAX_FAULTS = 3;

/** Offsets are UTF-16 units from the start of the text. */
export interface TextFault {
  offset: number;
  message: string;
}

/** Path of keys and indexes, as JSON: a key may hold any character. */
export type PathKey = string;
export const pathKey = (path: readonly PropertyKey[]): PathKey => JSON.stringify(path.map(String));

export interface PolicyText {
  value: unknown;
  /** Where each value stands; for one in a map, where its key stands too. */
  places: ReadonlyMap<PathKey, { key: number | null; value: number }>;
  faults: readonly TextFault[];
  position(offset: number): { line: number; column: number };
}

/** Reads YAML, and JSON as the part of YAML that it is. Never throws: what is wrong comes back as faults. */
export function parsePolicyText(text: string): PolicyText {
  const lines = linesOf(text);
  const position = (offset: number) => {
    const { line, col } = lines.linePos(Math.min(Math.max(offset, 0), text.length));
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const nothing = { value: undefined, places: new Map(), position };
  const composed = compose(text);
  if (!('document' in composed)) return { ...nothing, faults: [composed] };
  const { document } = composed;
  const syntax = [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_FAULTS);
  if (syntax.length > 0)
    return {
      ...nothing,
      faults: syntax.map(({ pos, message }) => ({
        offset: pos[0],
        message: `${printable(message, 200)}; expected YAML or JSON`,
      })),
    };
  const reader = new NodeReader();
  const value = reader.read(document.contents, [], 0);
  return { value, places: reader.places, faults: reader.faults, position };
}

/** Counted here: the parser tells of no line's end behind some errors. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines.addNewLine(end + 1);
  return lines;
}

function compose(text: string): { document: Document.Parsed } | TextFault {
  const parser = new Parser();
  const tokens = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++lexemes > MAX_LEXEMES)
      return { offset: 0, message: 'the file has too many parts; expected a policy of reasonable size' };
    tokens.push(...parser.next(lexeme));
  }
  tokens.push(...parser.end());
  if (isDeeperThan(tokens, MAX_DEPTH))
    return { offset: 0, message: `the file is nested more than ${MAX_DEPTH} levels deep; expected a flatter one` };
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, keepSourceTokens: false });
  for (const document of composer.compose(tokens, true, text.length)) {
    const second = tokens.filter((token) => token.type === 'document')[1];
    return second === undefined
      ? { document }
      : { offset: second.offset, message: 'a second document begins here; expected one' };
  }
  return { offset: 0, message: 'the file is empty; expected at least `version: 1`' };
}

function isDeeperThan(roots: readonly unknown[], limit: number): boolean {
  const open: { node: unknown; depth: number }[] = roots.map((node) => ({ node, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    if (depth > limit) return true;
    if (typeof node !== 'object' || node === null) continue;
    if ('value' in node) open.push({ node: node.value, depth });
    if ('key' in node) open.push({ node: node.key, depth });
    if ('items' in node && Array.isArray(node.items))
      for (const item of node.items) open.push({ node: item, depth: depth + 1 });
  }
  return false;
}

/** Turns nodes into plain values, remembering where each stood. Aliases are followed within the bounds above. */
class NodeReader {
  readonly places = new Map<PathKey, { key: number | null; value: number }>();
  readonly faults: TextFault[] = [];
  readonly #anchors = new Map<string, unknown>();
  #values = 0;

  read(node: unknown, path: readonly string[], at: number): unknown {
    const offset = offsetOf(node, at);
    const place = pathKey(path);
    if (!this.places.has(place)) this.places.set(place, { key: null, value: offset });
    if (this.#values > MAX_VALUES) return undefined;
    this.#values++;
    if (this.#values > MAX_VALUES || path.length > MAX_DEPTH) {
      this.#values = MAX_VALUES + 1;
      this.faults.push({ offset, message: 'aliases stand for too much here; expected the values themselves' });
      return undefined;
    }
    if (isAlias(node)) {
      if (this.#anchors.has(node.source)) return this.read(this.#anchors.get(node.source), path, offset);
      this.faults.push({
        offset,
        message: `the alias \`*${printable(node.source, 80)}\` names nothing; expected an anchor before it`,
      });
      return undefined;
    }
    if (isNode(node) && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isMap(node)) return this.#readMap(node.items, path, offset);
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, String(index)], offset));
    return isScalar(node) ? node.value : null;
  }

  #readMap(pairs: readonly Pair[], path: readonly string[], at: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    for (const pair of pairs) {
      const offset = offsetOf(pair.key, at);
      const key = isScalar(pair.key) ? pair.key.value : undefined;
      if (typeof key !== 'string' || key === '__proto__') {
        this.faults.push({ offset, message: 'this key is not a name; expected text' });
      } else if (Object.hasOwn(value, key)) {
        this.faults.push({ offset, message: `\`${printable(key, 80)}\` is given twice; expected each key once` });
      } else {
        const place = [...path, key];
        value[key] = this.read(pair.value, place, offset);
        this.places.set(pathKey(place), { key: offset, value: offsetOf(pair.value, offset) });
      }
    }
    return value;
  }
}

function offsetOf(node: unknown, otherwise: number): number {
  return isNode(node) ? (node.range?.[0] ?? otherwise) : otherwise;
}
