/**
 * Milliseconds that a provider asks to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. Undefined when
 * there is no such header or it cannot be read; a date in the past is 0.
 */
export function parseRetryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): number | undefined {
  const millis = numberOf(headers['retry-after-ms']);
  if (millis !== undefined) return Math.ceil(millis);
  const value = headers['retry-after'];
  const seconds = numberOf(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // `Date.parse` alone makes a date of almost anything, `-5` too.
  const date = value !== undefined && /^\s*[A-Z][a-z]{2,}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
