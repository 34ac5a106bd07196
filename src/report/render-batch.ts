import { htmlTable, htmlWarnings, markdownTable, markdownWarnings } from './batch-parts.ts';
import { compareBatches } from './compare-batches.ts';
import type { BatchView } from './fold-batch.ts';
import { html } from './html.ts';
import { htmlPage } from './html-page.ts';
import { type PageOf, type Roll, rollOfBatch } from './roll-of-batch.ts';

const MAX_MARKDOWN_JOBS = 150;
const MAX_HTML_JOBS = 5_000;
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

function toMarkdown({ tone, headline, why, tables, views }: Roll): string {
  const mark = { good: '✅', warning: '⚠️', bad: '❌' }[tone];
  return `${[`## ${mark} ${headline}`, why, ...views.flatMap(markdownWarnings), ...tables.flatMap(markdownTable)].join('\n\n')}\n`;
}

function toHtml({ tone, headline, why, tables, views }: Roll): string {
  const sources = views.map((view) => view.source).join(' and ');
  return htmlPage(
    `${headline} – belay batch`,
    html`${views.map(htmlWarnings)}<header class="verdict ${tone}"><p class="about"><span>belay ${views.length === 1 ? 'batch' : 'comparison of two batches'}</span><span><bdi>${sources}</bdi></span></p>
<div class="head"><span class="mark" aria-hidden="true">${{ good: '✓', warning: '!', bad: '✗' }[tone]}</span><h1>${headline}</h1></div><p class="why">${why}</p></header>
<main id="main">${tables.map(htmlTable)}</main><footer>Made by belay. It fetches nothing and runs no script.</footer>`,
  );
}
