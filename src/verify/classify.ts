import type { Classification } from '../events/index.ts';

export interface Seen {
  required: boolean;
  /** null: not run in that phase. */
  before: 'passed' | 'failed' | null;
  after: 'passed' | 'failed' | null;
  /** Whether it failed and then passed on the same tree: before, where it is green after, or after, whatever it was once more. */
  flaky: boolean;
}

/** What became of a check (contract, sections 3 and 6); null when it was not run at the end. */
export function classify({ required, before, after, flaky }: Seen): Classification | null {
  if (after === null) return null;
  if (flaky) return 'flaky';
  if (after === 'passed') return before === 'failed' ? 'fixed' : 'passing';
  if (before === 'passed') return 'regressed';
  return required ? 'still_failing' : 'pre_existing';
}

/**
 * `fixed`: a required check went from red to green; `kept`: all required ones were and stayed green; else `none`. A flaky pass of a
 * check that was red is no fix.
 */
export function evidenceOf(checks: readonly Seen[]): 'fixed' | 'kept' | 'none' {
  const required = checks.filter((check) => check.required);
  if (required.some((check) => classify(check) === 'fixed')) return 'fixed';
  const kept = required.length > 0 && required.every((check) => check.before === 'passed' && check.after === 'passed');
  return kept ? 'kept' : 'none';
}
