import type { BatchView } from './fold-batch.ts';
import { type Html, html } from './html.ts';
import { codeCell, codeSpan } from './inert-markdown.ts';

/** A cell of a table that both forms of a report show. */
export interface Cell {
  text: string;
  /** Text of others: a name, a reason. */
  isForeign?: boolean;
  tone?: 'good' | 'warning' | 'bad' | 'mute';
  isNumber?: boolean;
  /** A page beside this one, relative; made by belay, never by a log. Markdown has no links: it may be read anywhere. */
  href?: string;
}
export interface Table {
  title: string;
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** On a phone, a row becomes a small card: for tables that are wider than one. */
  isWide?: boolean;
  /** Rows that are not shown. */
  more: number;
}

const MARKS = { good: '✅ ', warning: '⚠️ ', bad: '❌ ', mute: '' };

export function markdownTable({ title, head, rows, more }: Table): string[] {
  if (rows.length === 0) return [];
  const cell = ({ text, isForeign, tone }: Cell) =>
    `${tone === undefined ? '' : MARKS[tone]}${isForeign === true ? codeCell(text, 160) : text}`;
  const lines = rows.map((row) => `| ${row.map(cell).join(' | ')} |`);
  return [
    `### ${title}`,
    [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...lines].join('\n'),
    ...(more > 0 ? [`${more} more are in the results.`] : []),
  ];
}

export function htmlTable({ title, head, rows, more, isWide }: Table): Html | null {
  if (rows.length === 0) return null;
  const numbers = (rows[0] ?? []).map((one) => one.isNumber === true);
  const cell = ({ text, isForeign, tone, isNumber, href }: Cell, column: number) => {
    const words = isForeign === true ? html`<bdi>${text}</bdi>` : text;
    const shown = href === undefined ? words : html`<a href="${href}">${words}</a>`;
    const kind = isNumber === true ? 'n' : isForeign === true && column > 0 ? 't' : '';
    return html`<td${kind === '' ? null : html` class="${kind}"`}${role('cell')} data-h="${head[column] ?? ''}">${tone === undefined ? shown : html`<span class="pill ${tone}">${shown}</span>`}</td>`;
  };
  // A layout of its own takes a table's meaning from its rows; the roles give it back.
  const role = (name: string) => (isWide === true ? html` role="${name}"` : null);
  const titles = head.map(
    (name, i) =>
      html`<th scope="col"${role('columnheader')}${numbers[i] === true ? html` class="n"` : null}>${name}</th>`,
  );
  return html`<section class="card"><h2>${title}</h2><div class="scroll" tabindex="0"><table${role('table')}${isWide === true ? html` class="stack"` : null}><thead><tr${role('row')}>${titles}</tr></thead>
<tbody>${rows.map((row) => html`<tr${role('row')}>${row.map(cell)}</tr>`)}</tbody></table></div>${more > 0 ? html`<p class="cut">${more} more are in the results.</p>` : null}</section>`;
}

/** What has to be said before any figure. */
export function batchWarnings(view: BatchView): string[] {
  const { faults, stopped, missing } = view;
  const [fault] = faults;
  return [
    ...(fault === undefined ? [] : [`The log is broken at line ${fault.line}: ${fault.reason}.`]),
    ...(stopped === null ? [] : [`The batch stopped before its end: ${stopped}.`]),
    ...(missing === null ? [] : missingWords(missing)),
  ];
}

function missingWords({ shards, jobs }: NonNullable<BatchView['missing']>): string[] {
  const left = shards.length === 1 ? 'This shard' : 'These shards';
  return [
    ...(shards.length === 0 ? [] : [`${left} left nothing here: ${shards.join(', ')}.`]),
    ...(jobs === 0 ? [] : [`${jobs === 1 ? '1 job has' : `${jobs} jobs have`} no verdict here.`]),
  ];
}

export const markdownWarnings = (view: BatchView) =>
  batchWarnings(view).map((text) => `> [!WARNING]\n> ${codeSpan(text, 400)}`);

export function htmlWarnings(view: BatchView): Html | null {
  const texts = batchWarnings(view);
  if (texts.length === 0) return null;
  return html`<section class="banner" role="alert"><h2>Not a whole batch</h2><ul>${texts.map((text) => html`<li><bdi>${text}</bdi></li>`)}</ul></section>`;
}
