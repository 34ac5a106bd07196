import { parseJson } from '../events/index.ts';

/** The input of a call in one spelling: a recording keeps what it says and not how it was spaced. */
export function renderInput(input: string): string {
  try {
    return JSON.stringify(parseJson(input));
  } catch (error) {
    if (error instanceof SyntaxError) return input;
    throw error;
  }
}
