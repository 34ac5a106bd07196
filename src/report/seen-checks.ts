import type { CheckResult, CheckStatus, Event, Item } from '../events/index.ts';
import { keepEnds } from './keep-ends.ts';

const MAX_CHECKS = 500;
const TAIL = 4_096;

/** What a log that ends before its verdict shows of the checks. */
export function createSeenChecks() {
  const checks = new Map<string, CheckResult>();
  return {
    add(event: Extract<Event, { type: 'item.completed' }>): void {
      const { item, phase } = event;
      if (item.type !== 'check') return;
      const before = checks.get(item.name);
      if (before === undefined && checks.size >= MAX_CHECKS) return;
      const status = statusOf(item);
      checks.set(item.name, {
        name: item.name,
        command: item.command,
        required: before?.required ?? true,
        baseline: phase === 'baseline' ? status : (before?.baseline ?? null),
        final: phase === 'baseline' ? null : status,
        classification: null,
        exit_code: item.exit_code,
        duration_ms: item.duration_ms ?? 0,
        output_sha256: item.output_sha256 ?? null,
        output_tail: keepEnds(item.aggregated_output, TAIL).text,
        tests: null,
        reason: item.reason ?? null,
      });
    },
    /** Which of them are required is told only here. */
    judge(event: Extract<Event, { type: 'verification.completed' }>): void {
      for (const { name, required } of event.checks) {
        const seen = checks.get(name);
        if (seen !== undefined) checks.set(name, { ...seen, required });
      }
    },
    read: (): CheckResult[] => [...checks.values()],
  };
}

function statusOf(item: Extract<Item, { type: 'check' }>): CheckStatus {
  if (item.passed === true) return 'passed';
  if (item.status === 'timed_out') return 'timed_out';
  return item.passed === null ? 'skipped' : 'failed';
}
