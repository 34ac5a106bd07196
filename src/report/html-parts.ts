import type { CheckStatus } from '../events/index.ts';
import { stripColours } from '../verify/index.ts';
import type { Sentence } from './explain-outcome.ts';
import { type Html, html } from './html.ts';
import { htmlDiff } from './html-diff.ts';
import type { Block } from './report-view.ts';

export function htmlSentence(sentence: Sentence): Html {
  const parts = sentence.map((part) => {
    if (typeof part === 'string') return part;
    return part.isName === true ? html`<code>${part.foreign}</code>` : html`<bdi>${part.foreign}</bdi>`;
  });
  return html`${parts}`;
}

/** A text of an item, bounded, with what is missing said below it. */
export function htmlBlock(block: Block): Html {
  const label = block.label === '' ? null : html`<p class="label">${block.label}</p>`;
  const cut = htmlCut(block.cutCharacters);
  if (block.kind === 'diff') return html`${label}${htmlDiff(block.text)}${cut}`;
  const text = stripColours(block.text).trimEnd();
  if (block.kind === 'prose') return html`${label}<p class="prose">${text}</p>${cut}`;
  return html`${label}<pre tabindex="0">${text}</pre>${cut}`;
}

export function htmlCut(characters: number): Html | null {
  return characters === 0
    ? null
    : html`<p class="cut">${characters.toLocaleString('en')} characters are left out at ⋯; the log has them.</p>`;
}

export function htmlStatus(status: CheckStatus | null): Html {
  const [tone, word] = STATUS[status ?? 'none'];
  return html`<span class="pill ${tone}">${word}</span>`;
}

const STATUS = {
  passed: ['good', '✓ passed'],
  failed: ['bad', '✗ failed'],
  timed_out: ['bad', '✗ timed out'],
  skipped: ['mute', 'skipped'],
  none: ['mute', 'not run'],
} as const;

export const count = (n: number, thing: string) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`;
