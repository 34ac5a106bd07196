import { type BatchMeasures, renderCost, renderDuration, renderTokens } from '../events/index.ts';

/** A figure that teams judge agents by, and which way is better. */
export interface MeasureRow {
  title: string;
  value(measures: BatchMeasures): number | null;
  render(value: number): string;
  better: 'more' | 'less';
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const mean = (value: number) => value.toFixed(1);
const tokens = (value: number) => renderTokens(Math.round(value));

export const MEASURE_ROWS: readonly MeasureRow[] = [
  { title: 'completion rate (verified jobs)', value: (m) => m.completion_rate, render: percent, better: 'more' },
  { title: 'check pass rate', value: (m) => m.checks.pass_rate, render: percent, better: 'more' },
  { title: 'regressed checks', value: (m) => m.checks.regressed, render: String, better: 'less' },
  { title: 'denied actions', value: (m) => m.denials, render: String, better: 'less' },
  { title: 'runs a job', value: (m) => m.cost.retries, render: mean, better: 'less' },
  { title: 'attempts a verified job', value: (m) => m.per_verified_job.attempts, render: mean, better: 'less' },
  { title: 'turns a verified job', value: (m) => m.per_verified_job.turns, render: mean, better: 'less' },
  { title: 'tool calls a verified job', value: (m) => m.per_verified_job.tool_calls, render: mean, better: 'less' },
  {
    title: 'time a verified job',
    value: (m) => m.per_verified_job.duration_ms,
    render: renderDuration,
    better: 'less',
  },
  { title: 'time, median job', value: (m) => m.time.median_job_ms, render: renderDuration, better: 'less' },
  { title: 'time, 90th percentile', value: (m) => m.time.p90_job_ms, render: renderDuration, better: 'less' },
  { title: 'tokens a run', value: (m) => m.cost.tokens_per_run, render: tokens, better: 'less' },
  { title: 'cost a verified job', value: (m) => m.per_verified_job.cost_usd, render: renderCost, better: 'less' },
  { title: 'cost to expect of one more job (C)', value: (m) => m.cost.usd_per_job, render: renderCost, better: 'less' },
];

export function renderMeasure({ value, render }: MeasureRow, measures: BatchMeasures): string {
  const known = value(measures);
  return known === null ? '–' : render(known);
}

/** Less than this share is told, but is no better and no worse: two nights never take the same time. */
const SMALL = 0.05;

/** From one batch to another: how much, and whether that is better; null where nothing can be compared or nothing changed. */
export function compareMeasure(
  row: MeasureRow,
  before: BatchMeasures,
  after: BatchMeasures,
): { text: string; tone: 'good' | 'bad' | 'mute' } | null {
  const [from, to] = [row.value(before), row.value(after)];
  if (from === null || to === null || row.render(from) === row.render(to)) return null;
  const text = row.render(Math.abs(to - from));
  if (text === row.render(0)) return null;
  const sign = to > from ? '+' : '−';
  const isSmall = Math.abs(to - from) < SMALL * Math.max(Math.abs(from), Math.abs(to));
  const tone = isSmall ? 'mute' : to > from === (row.better === 'more') ? 'good' : 'bad';
  return { text: `${sign}${text}`, tone };
}
