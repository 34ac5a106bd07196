import { renderCost, renderDuration } from '../events/index.ts';
import { type Cell, htmlTable, htmlWarnings, markdownTable, markdownWarnings, type Table } from './batch-parts.ts';
import type { BatchView } from './fold-batch.ts';
import { html } from './html.ts';
import { htmlPage } from './html-page.ts';
import { compareMeasure, MEASURE_ROWS, renderMeasure } from './measure-rows.ts';

const MAX_MARKDOWN_JOBS = 150;
const MAX_HTML_JOBS = 5_000;

interface Roll {
  tone: 'good' | 'warning' | 'bad';
  headline: string;
  why: string;
  tables: readonly Table[];
  views: readonly BatchView[];
}

/** A batch for a job summary. */
export const renderBatchMarkdown = (view: BatchView) => toMarkdown(rollOf(view, MAX_MARKDOWN_JOBS));
/** A batch as one page: what teams judge agents by, then every job. */
export const renderBatchHtml = (view: BatchView) => toHtml(rollOf(view, MAX_HTML_JOBS));
/** Two batches beside each other: the measures, and the jobs whose outcome changed. */
export const renderComparisonMarkdown = (before: BatchView, after: BatchView) =>
  toMarkdown(compare(before, after, MAX_MARKDOWN_JOBS));
export const renderComparisonHtml = (before: BatchView, after: BatchView) =>
  toHtml(compare(before, after, MAX_HTML_JOBS));

function rollOf(view: BatchView, maxJobs: number): Roll {
  const { measures, jobs } = view;
  const isAll = measures.jobs > 0 && measures.verified === measures.jobs && view.faults.length === 0;
  const took = [
    view.costUsd === null ? null : renderCost(view.costUsd),
    view.durationMs === null ? null : renderDuration(view.durationMs),
  ];
  const outcomes = view.outcomes.map(([outcome, n]) => `${n} ${outcome.replaceAll('_', ' ')}`).join(', ');
  return {
    tone: isAll ? 'good' : measures.verified > 0 ? 'warning' : 'bad',
    headline: `${measures.verified} of ${measures.jobs} verified`,
    why: `Each job is a goal of its own, and is verified only when belay ran its checks itself and they pass: ${outcomes || 'no jobs'}.${took.some((one) => one !== null) ? ` Took ${took.filter((one) => one !== null).join(' and ')}.` : ''}`,
    tables: [
      {
        title: 'Measures',
        head: ['measure', 'value'],
        rows: MEASURE_ROWS.map((row) => [{ text: row.title }, number(renderMeasure(row, measures))]),
        more: 0,
      },
      {
        title: 'Jobs',
        head: ['job', 'outcome', 'why', 'files', 'cost', 'time'],
        // What went wrong is what a reader looks for.
        rows: [...jobs]
          .sort((a, b) => Number(a.verified) - Number(b.verified))
          .slice(0, maxJobs)
          .map((job) => [
            { text: job.jobId, isForeign: true },
            { text: job.outcome.replaceAll('_', ' '), tone: job.verified ? 'good' : 'bad' },
            {
              text: job.failing.length > 0 ? `red: ${job.failing.slice(0, 5).join(', ')}` : job.reason,
              isForeign: true,
            },
            number(String(job.files)),
            number(job.costUsd === null ? '–' : renderCost(job.costUsd)),
            number(renderDuration(job.durationMs)),
          ]),
        more: Math.max(0, jobs.length - maxJobs),
      },
    ],
    views: [view],
  };
}

function compare(before: BatchView, after: BatchView, maxJobs: number): Roll {
  const was = new Map(before.jobs.map((job) => [job.jobId, job]));
  const isNow = new Set(after.jobs.map((job) => job.jobId));
  const changed = after.jobs.filter((job) => was.get(job.jobId)?.outcome !== job.outcome);
  const gone = before.jobs.filter((job) => !isNow.has(job.jobId));
  const won = changed.filter((job) => job.verified && was.get(job.jobId)?.verified === false).length;
  const lost = changed.filter((job) => !job.verified && was.get(job.jobId)?.verified === true).length;
  const rows = [
    ...changed.map((job): Cell[] => [
      { text: job.jobId, isForeign: true },
      { text: was.get(job.jobId)?.outcome.replaceAll('_', ' ') ?? 'not there' },
      { text: job.outcome.replaceAll('_', ' '), tone: job.verified ? 'good' : 'bad' },
    ]),
    ...gone.map((job): Cell[] => [
      { text: job.jobId, isForeign: true },
      { text: job.outcome.replaceAll('_', ' ') },
      { text: 'not there' },
    ]),
  ];
  const measures = MEASURE_ROWS.map((row): Cell[] => {
    const change = compareMeasure(row, before.measures, after.measures);
    const cell: Cell = change === null ? { text: '' } : { text: change.text, tone: change.isBetter ? 'good' : 'bad' };
    return [
      { text: row.title },
      number(renderMeasure(row, before.measures)),
      number(renderMeasure(row, after.measures)),
      { ...cell, isNumber: true },
    ];
  });
  return {
    tone: lost > 0 ? 'bad' : won > 0 ? 'good' : 'warning',
    headline: `${before.measures.verified} → ${after.measures.verified} verified`,
    why: `Of the jobs in both batches, ${won} ${won === 1 ? 'is' : 'are'} verified only in the second and ${lost} only in the first. The first has ${before.measures.jobs} jobs, the second ${after.measures.jobs}.`,
    tables: [
      { title: 'Measures', head: ['measure', 'first', 'second', 'change'], rows: measures, more: 0 },
      {
        title: 'Jobs that ended otherwise',
        head: ['job', 'first', 'second'],
        rows: rows.slice(0, maxJobs),
        more: Math.max(0, rows.length - maxJobs),
      },
    ],
    views: [before, after],
  };
}

const number = (text: string): Cell => ({ text, isNumber: true });

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
