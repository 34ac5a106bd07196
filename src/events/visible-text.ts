/** Control characters, and the format characters that reorder text or end a line. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;
const UNSAFE_BUT_TAB = /(?!\t)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;
/**
 * How CI systems spell commands inside of any output line: `##[error]`, `##vso[…]`, `##teamcity[…]`. A comparison that heeds languages, as
 * GitHub's runner makes it, overlooks what has no width.
 */
const CI_COMMAND = /#(\p{DI}*)#(?=[\w\p{DI}]*\[)/gu;
/** A command to GitHub's runner: `::` at the start of a line, behind blanks and what has no width. */
const COMMAND_LINE = /^((?:[\p{Zs}\p{DI}]|[^\P{Cc}\r\n])*:\p{DI}*)(?=:)/gmu;

/** Text of any number of lines that no CI system reads a command in: `: :error::`, `# #[error]`. */
export function disarmCommands(text: string): string {
  return text.replace(COMMAND_LINE, '$1 ').replace(CI_COMMAND, '# $1#');
}

/** The same for JSON, whose value stays what it is. Its lines never begin with a colon. */
export function disarmJson(json: string): string {
  return json.replace(CI_COMMAND, '#$1\\u0023');
}

/**
 * Foreign text on one line of a terminal: escape sequences, line ends and reordering become visible (`\x1b`, `\n`), so that text from a
 * model or a program cannot move the cursor, recolour, or pass for a line of belay's own. What prints the line sees to commands at its start.
 */
export function oneLine(text: string, maxLength = 200): string {
  return disarm(shorten(text.trim(), maxLength), UNSAFE);
}

/** Foreign text on lines of their own, each behind a prefix; at most `maxLines`, with a remark on the rest. */
export function quoteLines(text: string, options: { prefix: string; maxLines: number }): string {
  const lines = text.trimEnd().split(/\r?\n/);
  const shown = lines.slice(0, options.maxLines).map((line) => disarm(shorten(line, 1000), UNSAFE_BUT_TAB));
  if (lines.length > shown.length) shown.push(`(${lines.length - shown.length} more lines)`);
  return shown.map((line) => options.prefix + line).join('\n');
}

function disarm(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, escapeCharacter).replace(CI_COMMAND, '# $1#');
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
}

function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end =
    text.charCodeAt(maxLength - 1) >= 0xd800 && text.charCodeAt(maxLength - 1) <= 0xdbff ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}…`;
}
