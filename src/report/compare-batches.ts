import type { Cell } from './batch-parts.ts';
import type { BatchView } from './fold-batch.ts';
import { compareMeasure, MEASURE_ROWS, renderMeasure } from './measure-rows.ts';
import { number, type Roll, toneOfOutcome, words } from './roll-of-batch.ts';

/** Two batches beside each other: the measures, and the jobs whose outcome changed. */
export function compareBatches(before: BatchView, after: BatchView, maxJobs: number): Roll {
  const was = new Map(before.jobs.map((job) => [job.jobId, job]));
  const isNow = new Set(after.jobs.map((job) => job.jobId));
  const changed = after.jobs.filter((job) => was.get(job.jobId)?.outcome !== job.outcome);
  const gone = before.jobs.filter((job) => !isNow.has(job.jobId));
  const won = changed.filter((job) => job.verified && was.get(job.jobId)?.verified === false).length;
  const lost = changed.filter((job) => !job.verified && was.get(job.jobId)?.verified === true).length;
  const rows = [
    ...changed.map((job): Cell[] => [
      { text: job.jobId, isForeign: true },
      { text: words(was.get(job.jobId)?.outcome ?? 'not there') },
      { text: words(job.outcome), tone: toneOfOutcome(job.outcome) },
    ]),
    ...gone.map((job): Cell[] => [
      { text: job.jobId, isForeign: true },
      { text: words(job.outcome) },
      { text: 'not there' },
    ]),
  ];
  const measures = MEASURE_ROWS.map((row): Cell[] => {
    const change = compareMeasure(row, before.measures, after.measures);
    const cell: Cell = change ?? { text: '' };
    return [
      { text: row.title },
      number(renderMeasure(row, before.measures)),
      number(renderMeasure(row, after.measures)),
      { ...cell, isNumber: true },
    ];
  });
  return {
    tone: lost === 0 ? 'good' : won < lost ? 'bad' : 'warning',
    headline: `${before.measures.verified} → ${after.measures.verified} verified`,
    why: `Of the jobs in both batches, ${won} ${won === 1 ? 'is' : 'are'} verified only in the second and ${lost} only in the first. The first has ${before.measures.jobs} jobs, the second ${after.measures.jobs}.`,
    facts: [],
    outcomes: [],
    tables: [
      { title: 'Measures', isWide: true, head: ['measure', 'first', 'second', 'change'], rows: measures, more: 0 },
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
