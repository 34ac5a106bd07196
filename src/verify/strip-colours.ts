// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of terminals are control characters
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])|\u009b[0-?]*[ -/]*[@-~]/g;

/** Text without terminal escape sequences (colours, cursor moves, links). Linear in the length of the text. */
export function stripColours(text: string): string {
  return text.includes('\u001b') || text.includes('\u009b') ? text.replace(ESCAPES, '') : text;
}
