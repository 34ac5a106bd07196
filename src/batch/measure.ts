import {
  addUsage,
  type BatchMeasures,
  type JobRecord,
  NO_USAGE,
  type RunSummary,
  type Usage,
} from '../events/index.ts';

export interface Totals {
  usage: Usage;
  /** null when a run's price is unknown. */
  costUsd: number | null;
}

/** What the runs of these jobs took, all of them. */
export function totalOf(records: readonly JobRecord[]): Totals {
  const runs = records.flatMap(runsOf);
  return {
    usage: runs.reduce((sum, run) => addUsage(sum, run.usage), NO_USAGE),
    costUsd: runs.reduce<number | null>(
      (sum, run) => (sum === null || run.cost_usd === null ? null : sum + run.cost_usd),
      0,
    ),
  };
}

type Spent = Pick<RunSummary, 'usage' | 'cost_usd'>;

/** A record of somebody else's making may have no list of runs: its result is the one that is known. Jobs that never ran have none. */
function runsOf({ result, runs }: JobRecord): readonly Spent[] {
  return runs ?? (result.run_id === '' ? [] : [{ usage: result.usage, cost_usd: result.cost_usd }]);
}

/** The measures over the jobs of a batch. Pure: the same records give the same numbers. */
export function measure(records: readonly JobRecord[]): BatchMeasures {
  const results = records.map((record) => record.result);
  const verified = results.filter((result) => result.verified);
  const checks = results.flatMap((result) => result.checks).filter((check) => ran(check.final));
  const passed = checks.filter((check) => check.final === 'passed').length;
  const runs = records.flatMap(runsOf);
  const { usage, costUsd } = totalOf(records);
  const tokens = usage.input_tokens + usage.output_tokens;
  const durations = results.map((result) => result.duration_ms).sort((a, b) => a - b);
  const mean = (values: readonly number[]) => ratio(sum(values), values.length);
  const failureRate = ratio(results.length - verified.length, results.length);
  const retries = ratio(runs.length, results.length);
  const tokensPerRun = ratio(tokens, runs.length);
  const price = costUsd === null ? null : ratio(costUsd, tokens);
  return {
    jobs: results.length,
    verified: verified.length,
    completion_rate: ratio(verified.length, results.length),
    checks: {
      run: checks.length,
      passed,
      pass_rate: ratio(passed, checks.length),
      regressed: checks.filter((check) => check.classification === 'regressed').length,
    },
    runs: runs.length,
    denials: sum(results.map((result) => result.denials.length)),
    per_verified_job: {
      attempts: mean(verified.map((result) => result.limits.attempts.used)),
      turns: mean(verified.map((result) => result.limits.turns.used)),
      tool_calls: mean(verified.map((result) => result.limits.tool_calls.used)),
      duration_ms: mean(verified.map((result) => result.duration_ms)),
      cost_usd: costUsd === null ? null : ratio(costUsd, verified.length),
    },
    time: { jobs_ms: sum(durations), median_job_ms: quantile(durations, 0.5), p90_job_ms: quantile(durations, 0.9) },
    cost: {
      tokens_per_run: tokensPerRun,
      usd_per_million_tokens: price === null ? null : price * 1e6,
      retries,
      failure_rate: failureRate,
      usd_per_job:
        tokensPerRun === null || price === null || retries === null || failureRate === null
          ? null
          : tokensPerRun * price * retries * (1 + failureRate),
    },
  };
}

function ran(status: string | null): boolean {
  return status !== null && status !== 'skipped';
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** The smallest value that this share of the values is not above. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
