import { disarmCommands, quoteLines } from '../events/index.ts';
import { stripColours } from '../verify/index.ts';
import { keepEnds } from './keep-ends.ts';

/**
 * Foreign text in Markdown goes into code, and nowhere else: there, no HTML, link, image, mention, issue reference or closing keyword is
 * read, on GitHub or elsewhere. Control and reordering characters become visible.
 */

/** On one line, as a code span; safe in a table cell too. */
export function codeSpan(text: string, maxCharacters = 200): string {
  const shown = visible(keepEnds(text.replace(/\s+/g, ' ').trim(), maxCharacters).text.replaceAll('\n', ' '));
  if (shown === '') return '–';
  const fence = '`'.repeat(longestRun(shown, '`') + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** As `codeSpan`, in a row of a table, which a pipe splits even inside of code. Readers differ on `\\|`, so that it is not used. */
export function codeCell(text: string, maxCharacters = 200): string {
  const span = codeSpan(text, maxCharacters);
  if (!span.includes('|')) return span;
  const encoded = span.replace(/^`+ ?| ?`+$/g, '').replace(/[^\p{L}\p{N} ]/gu, (one) => `&#${one.codePointAt(0)};`);
  return `<code>${encoded}</code>`;
}

/** On lines of their own, as a fenced block; long lines are broken, since a block does not wrap. */
export function codeBlock(
  text: string,
  options: { maxCharacters: number; maxLines: number; language?: string; wrap?: number },
): string {
  const bounded = keepEnds(stripColours(text).replaceAll('\r\n', '\n'), options.maxCharacters).text;
  const lines = visible(bounded)
    .split('\n')
    .flatMap((line) => (options.wrap === undefined ? [line] : wrapLine(line, options.wrap)));
  const kept =
    lines.length <= options.maxLines
      ? lines
      : [...lines.slice(0, options.maxLines / 2), '⋯', ...lines.slice(-options.maxLines / 2)];
  const body = kept.join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(body, '`') + 1));
  return `${fence}${options.language ?? 'text'}\n${body}\n${fence}`;
}

function visible(text: string): string {
  return disarmCommands(quoteLines(text, { prefix: '', maxLines: Number.MAX_SAFE_INTEGER }));
}

function wrapLine(line: string, width: number): string[] {
  const out: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const blank = rest.lastIndexOf(' ', width);
    const end = blank > width / 2 ? blank : width;
    out.push(rest.slice(0, end));
    rest = rest.slice(blank > width / 2 ? end + 1 : end);
  }
  return [...out, rest];
}

function longestRun(text: string, character: string): number {
  let longest = 0;
  let run = 0;
  for (const one of text) {
    run = one === character ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
