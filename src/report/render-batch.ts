import { htmlTable, htmlWarnings, markdownTable, markdownWarnings } from './batch-parts.ts';
import { compareBatches } from './compare-batches.ts';
import { ABOUT_BELAY } from './explain-outcome.ts';
import type { BatchView } from './fold-batch.ts';
import { type Html, html } from './html.ts';
import { htmlPage } from './html-page.ts';
import { type PageOf, type Roll, rollOfBatch, toneOfOutcome, words } from './roll-of-batch.ts';

const MAX_MARKDOWN_JOBS = 150;
const MAX_HTML_JOBS = 5_000;
/** Between the parts of the bar, in percent. */
const GAP = 0.4;
const NO_PAGES: PageOf = () => null;

/** A batch for a job summary. */
export const renderBatchMarkdown = (view: BatchView) =>
  toMarkdown(rollOfBatch(view, { maxJobs: MAX_MARKDOWN_JOBS, pageOf: NO_PAGES }));
/** A batch as one page: what teams judge agents by, then every job. */
export const renderBatchHtml = (view: BatchView, pageOf: PageOf = NO_PAGES) =>
  toHtml(rollOfBatch(view, { maxJobs: MAX_HTML_JOBS, pageOf }));
/** Two batches beside each other: the measures, and the jobs whose outcome changed. */
export const renderComparisonMarkdown = (before: BatchView, after: BatchView) =>
  toMarkdown(compareBatches(before, after, MAX_MARKDOWN_JOBS));
export const renderComparisonHtml = (before: BatchView, after: BatchView) =>
  toHtml(compareBatches(before, after, MAX_HTML_JOBS));

function toMarkdown({ tone, headline, why, facts, tables, views }: Roll): string {
  const took = facts.map(([name, value]) => `${name} ${value}`).join(', ');
  const mark = { good: '✅', warning: '⚠️', bad: '❌' }[tone];
  return `${[`## ${mark} ${headline}`, why, ...(took === '' ? [] : [`${took}.`]), ...views.flatMap(markdownWarnings), ...tables.flatMap(markdownTable)].join('\n\n')}\n`;
}

function toHtml(roll: Roll): string {
  const { tone, headline, why, tables, views } = roll;
  const about = [
    html`<span>belay ${views.length === 1 ? 'batch' : 'comparison of two batches'}</span>`,
    ...views.flatMap(({ startedAt, source }) => [
      startedAt === null ? null : html`<span>${startedAt.replace('T', ' ').replace(/:\d\d\..*$/, ' UTC')}</span>`,
      source === '' ? null : html`<span><bdi>${source}</bdi></span>`,
    ]),
  ];
  return htmlPage(
    `${headline} – belay batch`,
    html`${views.map(htmlWarnings)}<header class="verdict ${tone}"><p class="about">${about}</p>
<div class="head"><span class="mark" aria-hidden="true">${{ good: '✓', warning: '!', bad: '✗' }[tone]}</span><h1>${headline}</h1></div><p class="why">${why}</p>
${htmlOutcomes(roll)}${htmlFacts(roll)}</header>
<main id="main">${tables.map(htmlTable)}</main><footer>${ABOUT_BELAY} This page fetches nothing and runs no script.</footer>`,
  );
}

/** How the jobs ended, as shares of one bar. */
function htmlOutcomes({ outcomes }: Roll): Html | null {
  const all = outcomes.reduce((sum, [, n]) => sum + n, 0);
  if (all === 0) return null;
  let x = 0;
  const parts = outcomes.map(([outcome, n]) => {
    const at = x;
    x += (n / all) * 100;
    return html`<rect class="${toneOfOutcome(outcome)}" x="${at.toFixed(2)}" width="${Math.max(0, x - at - GAP).toFixed(2)}" height="1"><title>${n} ${words(outcome)}</title></rect>`;
  });
  const legend = outcomes.map(
    ([outcome, n]) => html`<li class="pill ${toneOfOutcome(outcome)}">${n} ${words(outcome)}</li>`,
  );
  return html`<div class="outcomes"><svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">${parts}</svg><ul class="legend" aria-label="How the jobs ended">${legend}</ul></div>`;
}

function htmlFacts({ facts }: Roll): Html | null {
  if (facts.length === 0) return null;
  return html`<dl class="tiles">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
