import { parseJson } from '../events/index.ts';

/** The input of a call as an object, or null when the text is not a JSON object. */
export function parseToolInput(text: string): Record<string, unknown> | null {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  return isRecord(value) ? value : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
