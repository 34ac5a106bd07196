const ESC = '\u001b';
const CSI = '\u009b';
const PARAMETERS = '[0-?]*[ -/]*[@-~]';
const LINK_OR_TITLE = `\\][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)?`;
const ESCAPES = new RegExp(`${ESC}(?:\\[${PARAMETERS}|${LINK_OR_TITLE}|[@-Z\\\\-_])|${CSI}${PARAMETERS}`, 'g');

/** Text without terminal escape sequences (colours, cursor moves, links). Linear in the length of the text. */
export function stripColours(text: string): string {
  return text.includes(ESC) || text.includes(CSI) ? text.replace(ESCAPES, '') : text;
}
