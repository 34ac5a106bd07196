export type ForeignRecord = Record<string, unknown>;

export const isRecord = (value: unknown): value is ForeignRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An empty one for what is none. */
export const recordOf = (value: unknown): ForeignRecord => (isRecord(value) ? value : {});

/** A value of a parsed file as one line of text: equal for two values exactly where they are. */
export const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : (JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? '');
