import { type CheckResult, type Outcome, oneLine, type Result } from '../events/index.ts';
import type { ReportView } from './report-view.ts';

/** Words of belay's own and, marked as such, of others: each renderer has its own way to make those harmless. */
export type Sentence = readonly (string | { foreign: string; isName?: true })[];

export interface Explanation {
  tone: 'good' | 'warning' | 'bad';
  /** Two or three words. */
  headline: string;
  /** One sentence for a reader who never saw belay. */
  why: Sentence;
}

/** For the foot of a page: a reader may never have heard of it. */
export const ABOUT_BELAY =
  'belay lets a coding agent work on a goal in a sandbox, and judges the change by checks that it runs itself.';

/** What the verdict means, to somebody who has never heard of belay. */
export function explainOutcome(view: ReportView): Explanation {
  const { result } = view;
  if (result === null) {
    return {
      tone: 'bad',
      headline: 'No verdict',
      why: ['The log ends before its verdict: the run was killed or its log was cut off, so nothing here is proven.'],
    };
  }
  const { tone, headline } = HEADLINES[result.outcome];
  return { tone, headline, why: whyOf(result) };
}

const HEADLINES: Record<Outcome, Pick<Explanation, 'tone' | 'headline'>> = {
  verified: { tone: 'good', headline: 'Verified' },
  unchecked: { tone: 'warning', headline: 'Unchecked' },
  not_reproduced: { tone: 'warning', headline: 'Not reproduced' },
  internal_error: { tone: 'bad', headline: 'Internal error' },
  usage_error: { tone: 'bad', headline: 'Usage error' },
  unverified: { tone: 'bad', headline: 'Unverified' },
  limit_reached: { tone: 'bad', headline: 'Limit reached' },
  policy_violation: { tone: 'bad', headline: 'Policy violation' },
  approval_required: { tone: 'warning', headline: 'Approval required' },
  gave_up: { tone: 'bad', headline: 'Gave up' },
  invalid_output: { tone: 'bad', headline: 'Invalid output' },
  model_failed: { tone: 'bad', headline: 'Model failed' },
  sandbox_unavailable: { tone: 'bad', headline: 'Sandbox unavailable' },
  setup_failed: { tone: 'bad', headline: 'Setup failed' },
  busy: { tone: 'warning', headline: 'Busy' },
  interrupted: { tone: 'bad', headline: 'Interrupted' },
};

function whyOf(result: Result): Sentence {
  const reason = { foreign: oneLine(result.reason, 400) };
  const then = result.changes.restored ? '; the files were put back as they were.' : '.';
  switch (result.outcome) {
    case 'verified':
      return whyVerified(result);
    case 'unchecked':
      return ['The agent says that it is done, but no check was run, so nobody has proven the change: ', reason, '.'];
    case 'not_reproduced':
      return ['There is nothing to fix: a check that should fail before the change passes already (', reason, ').'];
    case 'unverified':
      return ['The change was not accepted, because ', ...(brokenChecks(result) ?? [reason]), then];
    case 'limit_reached':
      return ['The run was stopped at a limit before the checks passed: ', reason, then];
    case 'policy_violation':
      return ['The change breaks a rule of the policy and was not accepted: ', reason, then];
    case 'approval_required':
      return ['The run waits for a person to allow an action: ', reason, '.'];
    case 'gave_up':
      return ['The agent said that it cannot do it, or needs an answer first: ', reason, then];
    case 'invalid_output':
      return ['The answer of the agent does not have the form that was asked for: ', reason, then];
    case 'model_failed': {
      const hint = result.error?.retryable === true ? ' (trying again later can help).' : '.';
      return ['The model provider failed, so the work was not done: ', reason, hint];
    }
    case 'sandbox_unavailable':
      return [
        'Nothing was run, because the sandbox that the policy demands does not work on this machine: ',
        reason,
        '.',
      ];
    case 'setup_failed':
      return ['The work did not begin, because a step before it failed: ', reason, '.'];
    case 'busy':
      return ['Another run was at work in the same place: ', reason, '.'];
    case 'interrupted':
      return ['The run was ended from outside before it was done: ', reason, then];
    case 'usage_error':
      return ['The run did not begin, because of how it was asked for: ', reason, '.'];
    case 'internal_error':
      return ['A bug in belay ended the run: ', reason, then];
  }
}

function whyVerified(result: Result): Sentence {
  const required = result.checks.filter((check) => check.required);
  const fixed = required.filter((check) => check.classification === 'fixed');
  const byWhom = 'belay ran the checks itself, on a clean copy, after the agent had stopped.';
  if (result.changes.files.length === 0)
    return ['Every required check passes, and nothing had to be changed; ', byWhom];
  if (fixed.length === 0)
    return ['The change is accepted: every required check passed before it and still does; ', byWhom];
  const others = required.length - fixed.length;
  const rest =
    others === 0 ? '' : others === 1 ? ', and the other one passes too' : `, and the ${others} others pass too`;
  return [
    'The change is accepted: ',
    ...namesOf(fixed),
    ` failed before it and ${fixed.length === 1 ? 'passes' : 'pass'} now${rest}; `,
    byWhom,
  ];
}

function brokenChecks({ checks }: Result): Sentence | null {
  const broken = checks.filter((check) => check.required && (check.final === 'failed' || check.final === 'timed_out'));
  if (broken.length === 0) return null;
  const worse = broken.every((check) => check.classification === 'regressed') ? ', which passed before' : '';
  return [...namesOf(broken), ` ${broken.length === 1 ? 'fails' : 'fail'}${worse}`];
}

function namesOf(checks: readonly CheckResult[]): Sentence {
  const names = checks
    .slice(0, 3)
    .flatMap((check, i) => [...(i === 0 ? [] : [', ']), { foreign: oneLine(check.name, 60), isName: true as const }]);
  const more = checks.length > 3 ? [` and ${checks.length - 3} more`] : [];
  return [checks.length === 1 ? 'the check ' : 'the checks ', ...names, ...more];
}

/** A sentence as one text, for formats that escape it as a whole. */
export function plainText(sentence: Sentence): string {
  return sentence.map((part) => (typeof part === 'string' ? part : part.foreign)).join('');
}
