/** Markup that may go into a page as it is. Made only by `html`, so that foreign text cannot become it. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = string | number | null | Html | readonly Part[];

/**
 * A template whose literal parts are markup and whose values are text: escaped, with control and reordering characters made visible. Values
 * that are `Html` stand as they are, lists one after the other, null for nothing. Attribute values have to be in double quotes.
 */
export function html(literals: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(
    literals.map((literal, i) => (i === 0 ? literal : markupOf(values[i - 1] ?? null) + literal)).join(''),
  );
}

function markupOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.markup;
  if (typeof part === 'string') return escapeHtml(part);
  return typeof part === 'number' ? String(part) : part.map(markupOf).join('');
}

/**
 * Control characters but tab and newline, what reorders, hides or ends text: an output must read in a page as it would in a hex dump where it
 * would otherwise lie.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

function escapeHtml(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSEEN, visible)
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

function visible(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}
