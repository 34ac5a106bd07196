import { validateHeaderName, validateHeaderValue } from 'node:http';

/**
 * Header names (any case) and values, as the global `Headers` keeps them: its first use loads all of Node's fetch (some 35 ms), for
 * what providers ask of it.
 */
export class HttpHeaders implements Headers {
  readonly #values = new Map<string, string[]>();

  constructor(init: HeadersInit = []) {
    const pairs = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value = []] of pairs)
      if (name !== undefined) for (const one of [value].flat()) this.append(name, one);
  }

  append(name: string, value: string): void {
    this.#put(name, value, this.#values.get(name.toLowerCase()) ?? []);
  }

  set(name: string, value: string): void {
    this.#put(name, value, []);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.join(', ') ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  forEach(call: (value: string, name: string, parent: Headers) => void): void {
    for (const [name, value] of this) call(value, name, this);
  }

  *entries(): ReturnType<Headers['entries']> {
    for (const [name, values] of [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (name === 'set-cookie') for (const value of values) yield [name, value];
      else yield [name, values.join(', ')];
    }
  }

  *keys(): ReturnType<Headers['keys']> {
    for (const [name] of this) yield name;
  }

  *values(): ReturnType<Headers['values']> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }

  #put(name: string, value: string, before: readonly string[]): void {
    const given = String(value).trim();
    validateHeaderName(name);
    validateHeaderValue(name, given);
    this.#values.set(name.toLowerCase(), [...before, given]);
  }
}
