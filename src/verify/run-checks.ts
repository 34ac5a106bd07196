import type { Check } from '../policy/index.ts';
import type { Baseline } from './baseline.ts';
import { type CheckRun, endsRound } from './check-run.ts';
import type { CheckPorts, Place } from './place.ts';
import { runConfirmed } from './run-confirmed.ts';

export interface ChecksSite {
  place: Place;
  ports: CheckPorts;
  baseline: Baseline | null;
  retries: number;
  secret: boolean;
  reset(): Promise<void>;
}

/** One check after the other, all of them, unless the round is over before. */
export async function runChecks(
  checks: readonly Check[],
  site: ChecksSite,
  signal: AbortSignal,
): Promise<readonly CheckRun[]> {
  const runs: CheckRun[] = [];
  for (const check of checks) {
    const testsBefore = site.baseline?.runs.find((run) => run.name === check.name)?.tests ?? null;
    const run = await runConfirmed(check, { ...site, testsBefore }, signal);
    runs.push(run);
    if (endsRound(run)) break;
  }
  return runs;
}
