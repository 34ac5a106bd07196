/** Expressions of workflow files, as far as the action and the examples use them. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

export interface Scope {
  contexts: Readonly<Record<string, Value>>;
  /** A step before failed. */
  failed: boolean;
}

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|'((?:[^']|'')*)'|([A-Za-z_][\w-]*)|(&&|\|\||==|!=|<=|>=|[!<>().,[\]]))/y;

type Token = { kind: 'number' | 'text' | 'name' | 'sign'; text: string };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`no expression: ${text} (at ${at})`);
    const [, number, string, name, sign] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (string !== undefined) tokens.push({ kind: 'text', text: string.replaceAll("''", "'") });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else tokens.push({ kind: 'sign', text: sign ?? '' });
  }
  return tokens;
}

export function evaluate(text: string, scope: Scope): Value {
  const tokens = tokensOf(text);
  let next = 0;
  const takeSign = (...signs: string[]) => {
    const token = tokens[next];
    if (token?.kind !== 'sign' || !signs.includes(token.text)) return null;
    next++;
    return token.text;
  };
  const need = (sign: string) => {
    if (takeSign(sign) === null) throw new Error(`${sign} is missing in: ${text}`);
  };
  const either = (): Value => {
    let value = both();
    while (takeSign('||') !== null) {
      const right = both();
      value = isTrue(value) ? value : right;
    }
    return value;
  };
  const both = (): Value => {
    let value = compared();
    while (takeSign('&&') !== null) {
      const right = compared();
      value = isTrue(value) ? right : value;
    }
    return value;
  };
  const compared = (): Value => {
    const left = negated();
    const sign = takeSign('==', '!=');
    if (sign === null) return left;
    return equal(left, negated()) === (sign === '==');
  };
  const negated = (): Value => (takeSign('!') === null ? reached() : !isTrue(negated()));
  const reached = (): Value => {
    let value = first();
    for (;;) {
      if (takeSign('.') !== null) value = member(value, tokens[next++]?.text ?? '');
      else if (takeSign('[') !== null) {
        value = member(value, String(either()));
        need(']');
      } else return value;
    }
  };
  const first = (): Value => {
    if (takeSign('(') !== null) {
      const value = either();
      need(')');
      return value;
    }
    const token = tokens[next++];
    if (token === undefined || token.kind === 'sign') throw new Error(`no expression: ${text}`);
    if (token.kind === 'number') return Number(token.text);
    if (token.kind === 'text') return token.text;
    if (takeSign('(') === null) return named(token.text, scope);
    const args: Value[] = [];
    while (takeSign(')') === null) {
      args.push(either());
      takeSign(',');
    }
    return call(token.text, args, scope);
  };
  const value = either();
  if (next !== tokens.length) throw new Error(`more than an expression: ${text}`);
  return value;
}

function named(name: string, { contexts }: Scope): Value {
  if (name === 'true') return true;
  if (name === 'false') return false;
  if (name === 'null') return null;
  if (!(name in contexts)) throw new Error(`there is no context ${name}`);
  return contexts[name] ?? null;
}

function call(name: string, args: readonly Value[], { failed }: Scope): Value {
  const [a = null, b = null] = args;
  if (name === 'always') return true;
  if (name === 'success') return !failed;
  if (name === 'failure') return failed;
  if (name === 'cancelled') return false;
  if (name === 'contains')
    return Array.isArray(a)
      ? a.some((one) => equal(one, b))
      : toText(a).toLowerCase().includes(toText(b).toLowerCase());
  if (name === 'startsWith') return toText(a).toLowerCase().startsWith(toText(b).toLowerCase());
  if (name === 'fromJSON') return JSON.parse(toText(a));
  if (name === 'toJSON') return JSON.stringify(a, null, 2);
  if (name === 'format') return toText(a).replace(/\{(\d+)\}/g, (_, index) => toText(args[Number(index) + 1] ?? null));
  throw new Error(`there is no function ${name}`);
}

function member(value: Value, key: string): Value {
  if (value === null || typeof value !== 'object') return null;
  return new Map(Object.entries(value)).get(key) ?? null;
}

function equal(a: Value, b: Value): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a.toLowerCase() === b.toLowerCase();
  return a === b || toText(a) === toText(b);
}

export function isTrue(value: Value): boolean {
  return value !== null && value !== false && value !== 0 && value !== '';
}

export function toText(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A text with `${{ }}` in it. */
export function expand(text: string, scope: Scope): string {
  return text.replace(/\$\{\{([\s\S]*?)\}\}/g, (_, inner) => toText(evaluate(inner, scope)));
}

/** An `if:`: without a word about the status of the job, it holds only while nothing failed. */
export function holds(condition: string | undefined, scope: Scope): boolean {
  if (condition === undefined) return !scope.failed;
  const inner = /^\s*\$\{\{([\s\S]*)\}\}\s*$/.exec(condition)?.[1] ?? condition;
  const asksStatus = /\b(always|success|failure|cancelled)\s*\(/.test(inner);
  return (asksStatus || !scope.failed) && isTrue(evaluate(inner, scope));
}
