/** Deeper than any real input; JSON.stringify overflows the stack at some thousands. */
export const MAX_DEPTH = 200;
/** Fields whose value has a shape that is not belay's own: what the model or a tool wrote. */
const FOREIGN_FIELDS = new Set(['input', 'arguments', 'output', 'result']);

interface Place {
  ancestors: readonly object[];
  foreign: boolean;
}

/**
 * A copy that JSON can carry: undefined is dropped, BigInt becomes a number (a string where that would round), NaN and Infinity become
 * null, lone surrogates U+FFFD, what is nested too deep or in itself a remark. `redact` is applied to every string and foreign key,
 * but for `vocabulary`: words of the format, which a secret may happen to equal.
 */
export function toPlainJson<T>(
  value: T,
  options: { redact: (text: string) => string; vocabulary: ReadonlySet<string> },
): T {
  const copyText = (text: string) => (options.vocabulary.has(text) ? text : makeWellFormed(options.redact(text)));

  function copy(value: unknown, place: Place): unknown {
    if (typeof value === 'string') return copyText(value);
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (typeof value !== 'object' || value === null)
      return typeof value === 'boolean' || value === null ? value : undefined;
    if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
    if (place.ancestors.includes(value)) return '[circular]';
    if (place.ancestors.length >= MAX_DEPTH) return `[nested deeper than ${MAX_DEPTH} levels]`;
    const ancestors = [...place.ancestors, value];
    if (Array.isArray(value)) return value.map((entry) => copy(entry, { ancestors, foreign: place.foreign }) ?? null);
    const entries: [string, unknown][] = [];
    for (const [key, entry] of Object.entries(value)) {
      const copied = copy(entry, { ancestors, foreign: place.foreign || isForeign(value, key) });
      if (copied !== undefined) entries.push([place.foreign ? copyText(key) : key, copied]);
    }
    // fromEntries, unlike assignment, keeps a key named `__proto__`.
    return Object.fromEntries(entries);
  }

  // The copy has the shape of the original: only values that JSON lacks differ.
  return copy(value, { ancestors: [], foreign: false }) as T;
}

/** Whether a field of an event, item or result holds JSON of another's making. `run.completed` has a `result` of ours. */
export function isForeign(owner: object, key: string): boolean {
  return FOREIGN_FIELDS.has(key) && !('type' in owner && owner.type === 'run.completed');
}

/** JSON.stringify would write a lone surrogate as an escape, and many readers refuse such a line. */
function makeWellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
