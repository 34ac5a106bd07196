import { type Outcome, renderCost, renderDuration } from '../events/index.ts';
import type { Cell, Table } from './batch-parts.ts';
import type { BatchView, JobRow } from './fold-batch.ts';
import { MEASURE_ROWS, renderMeasure } from './measure-rows.ts';

/** What a page about batches says, before it is HTML or Markdown. */
export interface Roll {
  tone: 'good' | 'warning' | 'bad';
  headline: string;
  why: string;
  /** The figures that are looked for first. */
  facts: readonly (readonly [string, string])[];
  outcomes: readonly (readonly [Outcome, number])[];
  tables: readonly Table[];
  views: readonly BatchView[];
}

/** Where a run's own page is, relative to this one; null where there is none. */
export type PageOf = (jobId: string, runId: string) => string | null;

export interface RollLimits {
  maxJobs: number;
  pageOf: PageOf;
}

const MAX_RUNS = 2_000;

export function rollOfBatch(view: BatchView, { maxJobs, pageOf }: RollLimits): Roll {
  const { measures, jobs } = view;
  const isAll = measures.jobs > 0 && measures.verified === measures.jobs && view.faults.length === 0;
  const outcomes = view.outcomes.map(([outcome, n]) => `${n} ${words(outcome)}`).join(', ');
  return {
    tone: isAll ? 'good' : measures.verified > 0 ? 'warning' : 'bad',
    headline: `${measures.verified} of ${measures.jobs} verified`,
    why: `Each job is a goal of its own, and is verified only when belay ran its checks itself and they pass: ${outcomes || 'no jobs'}.`,
    facts: factsOf(view),
    outcomes: view.outcomes,
    tables: [
      {
        title: 'Jobs',
        isWide: true,
        head: ['job', 'outcome', 'why', 'files', 'cost', 'time'],
        // What went wrong is what a reader looks for.
        rows: [...jobs]
          .sort((a, b) => Number(a.verified) - Number(b.verified))
          .slice(0, maxJobs)
          .map((job) => jobRow(job, pageOf)),
        more: Math.max(0, jobs.length - maxJobs),
      },
      togetherTable(view),
      runsTable(jobs, pageOf),
      {
        title: 'Measures',
        head: ['measure', 'value'],
        rows: MEASURE_ROWS.map((row) => [{ text: row.title }, number(renderMeasure(row, measures))]),
        more: 0,
      },
    ],
    views: [view],
  };
}

function jobRow(job: JobRow, pageOf: PageOf): Cell[] {
  return [
    { text: job.jobId, isForeign: true, ...linkTo(pageOf(job.jobId, job.runId)) },
    { text: words(job.outcome), tone: toneOfOutcome(job.outcome) },
    { text: job.failing.length > 0 ? `red: ${job.failing.slice(0, 5).join(', ')}` : job.reason, isForeign: true },
    number(String(job.files)),
    cost(job.costUsd),
    number(renderDuration(job.durationMs)),
  ];
}

/** Alternatives and repetitions: which was kept, and what the others came to. */
function runsTable(jobs: readonly JobRow[], pageOf: PageOf): Table {
  const rows = jobs
    .filter(({ runs }) => runs.length > 1)
    .flatMap(({ jobId, runs }) =>
      runs.map((run, at): Cell[] => [
        { text: jobId, isForeign: true },
        { text: `run ${at + 1}${run.isKept ? ', kept' : ''}`, ...linkTo(pageOf(jobId, run.runId)) },
        { text: words(run.outcome), tone: toneOfOutcome(run.outcome) },
        number(String(run.lines)),
        cost(run.costUsd),
        number(renderDuration(run.durationMs)),
      ]),
    );
  return {
    title: 'Jobs with several runs',
    isWide: true,
    head: ['job', 'run', 'outcome', 'changed lines', 'cost', 'time'],
    rows: rows.slice(0, MAX_RUNS),
    more: Math.max(0, rows.length - MAX_RUNS),
  };
}

/** One patch out of the verified patches: what is in it, and what does not go together. */
function togetherTable({ combination }: BatchView): Table {
  const head = ['job', 'its patch', 'does not go with'];
  const outcome = combination === null || combination.outcome === null ? '' : `: ${words(combination.outcome)}`;
  const title = `All verified patches in one${outcome}`;
  if (combination === null) return { title, head, rows: [], more: 0 };
  const rows = [
    ...combination.left_out.map((one): Cell[] => [
      { text: one.job_id, isForeign: true },
      { text: `left out: ${words(one.reason)}`, tone: 'bad' },
      { text: one.with.join(', ') || '–', isForeign: one.with.length > 0 },
    ]),
    ...combination.jobs.map((id): Cell[] => [
      { text: id, isForeign: true },
      { text: 'is in it', tone: 'good' },
      { text: '–' },
    ]),
  ];
  return { title, head, rows: rows.slice(0, MAX_RUNS), more: Math.max(0, rows.length - MAX_RUNS) };
}

function factsOf({ measures, costUsd, durationMs }: BatchView): Roll['facts'] {
  const percent = (share: number | null) => (share === null ? '–' : `${Math.round(share * 100)} %`);
  const perJob = measures.per_verified_job.cost_usd;
  return [
    ['verified', percent(measures.completion_rate)],
    ['checks that pass', percent(measures.checks.pass_rate)],
    ['regressed checks', String(measures.checks.regressed)],
    ['cost', costUsd === null ? 'unknown' : renderCost(costUsd)],
    ['cost a verified job', perJob === null ? '–' : renderCost(perJob)],
    ['time', renderDuration(durationMs ?? measures.time.jobs_ms)],
  ];
}

/** Outcomes that wait for a person or prove nothing are no failures of the agent. */
const UNDECIDED: ReadonlySet<Outcome> = new Set(['unchecked', 'not_reproduced', 'approval_required', 'interrupted']);
export const toneOfOutcome = (outcome: Outcome) =>
  outcome === 'verified' ? 'good' : UNDECIDED.has(outcome) ? 'warning' : 'bad';

export const number = (text: string): Cell => ({ text, isNumber: true });
export const words = (name: string) => name.replaceAll('_', ' ');
const cost = (usd: number | null) => number(usd === null ? '–' : renderCost(usd));
const linkTo = (href: string | null) => (href === null ? {} : { href });
