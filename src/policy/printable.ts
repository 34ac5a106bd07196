/** Text from a file or a model, for a message: on one line, without what a terminal would obey, and no longer than `max`. */
export function printable(text: string, max: number): string {
  const start = text.length > max ? `${text.slice(0, max)}…` : text;
  return start.replace(/[\p{C}\u2028\u2029]/gu, '\uFFFD');
}
