import { MAX_DEPTH } from './plain-json.ts';

/**
 * JSON of another's making, such as the input of a model's call. Throws SyntaxError where it is none, and where it is nested deeper than
 * an event carries: what is done with the value (a schema, a digest, its text) would overflow the stack.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
  return JSON.parse(text);
}

/** undefined, which no JSON text means, where the text is none (or is nested beyond the parser's stack). */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** By hand: a pattern for strings would keep a place to go back to for each of their characters. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    if (isString) {
      if (unit === '\\') at++;
      else if (unit === '"') isString = false;
    } else if (unit === '"') isString = true;
    else if (unit === '[' || unit === '{') depth++;
    else if (unit === ']' || unit === '}') depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
