import { createHash } from 'node:crypto';
import type { Log, Run } from 'sarif';
import { oneLine, renderJson } from '../events/index.ts';
import { explainOutcome, plainText } from './explain-outcome.ts';
import type { ReportView } from './report-view.ts';

/** Ids are a promise: alerts are told apart by them. A new kind of finding gets a new one; none is used again for something else. */
const RULES = {
  'belay/denied-action': {
    text: 'An action of the agent was denied',
    help: 'The agent tried something that the policy or the sandbox does not allow. It did not happen; it is worth a look when it looks like an attack, such as an instruction hidden in a file.',
    level: 'warning',
  },
  'belay/policy-violation': {
    text: 'The change breaks a rule of the policy',
    help: 'Scope, size or integrity of the checks: the change was not accepted.',
    level: 'error',
  },
  'belay/check-regressed': {
    text: 'A check passed before the change and fails after it',
    help: 'The change breaks something that worked.',
    level: 'error',
  },
  'belay/check-failing': {
    text: 'A required check fails',
    help: 'The change does not do what it should, or not all of it.',
    level: 'error',
  },
  'belay/review-area': {
    text: 'The change touches an area that a person should look at',
    help: 'The policy names this area in workspace.review.',
    level: 'note',
  },
  'belay/test-change': {
    text: 'The change touches what judges it',
    help: 'Tests, or the configuration of their runners. Pristine versions were run too; look whether the change of the tests is meant.',
    level: 'note',
  },
} as const;
type RuleId = keyof typeof RULES;
const IDS: readonly RuleId[] = [
  'belay/denied-action',
  'belay/policy-violation',
  'belay/check-regressed',
  'belay/check-failing',
  'belay/review-area',
  'belay/test-change',
];
/** GitHub takes 25,000 results and shows 5,000. */
const MAX_RESULTS = 5_000;

interface Finding {
  rule: RuleId;
  text: string;
  /** Relative to the repository's root. */
  path: string | null;
}

/** SARIF 2.1.0 for code scanning: denials and violations, and what a person should look at, with stable rule ids and fingerprints. */
export function renderSarif(view: ReportView): string {
  const { start, result, log } = view;
  const findings = findingsOf(view).slice(0, MAX_RESULTS);
  const run: Run = {
    tool: {
      driver: {
        name: 'belay',
        ...(start === null ? {} : { version: oneLine(start.belay_version) }),
        rules: IDS.map((id) => ({
          id,
          name: id.replace('belay/', '').replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase()),
          shortDescription: { text: RULES[id].text },
          fullDescription: { text: RULES[id].help },
          help: { text: RULES[id].help },
          defaultConfiguration: { level: RULES[id].level },
        })),
      },
    },
    invocations: [
      {
        executionSuccessful: result !== null && log.faults.length === 0,
        ...(result === null ? {} : { exitCode: result.exit_code }),
        ...(start === null ? {} : { startTimeUtc: start.time }),
        toolExecutionNotifications: log.faults.map((fault) => ({
          level: 'error',
          message: { text: `the log is broken at line ${fault.line}: ${oneLine(fault.reason)}` },
        })),
      },
    ],
    ...(result === null ? {} : { automationDetails: { id: `belay/${oneLine(result.run_id)}` } }),
    columnKind: 'utf16CodeUnits',
    results: withFingerprints(findings),
  };
  const whole: Log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return renderJson(whole);
}

function findingsOf(view: ReportView): Finding[] {
  const { denials, checks } = view;
  const denied = denials.map(
    ({ action, rule, reason }): Finding => ({
      rule: 'belay/denied-action',
      text: `Denied: ${oneLine(action, 400)} (${oneLine(rule)}: ${oneLine(reason, 400)})`,
      path: null,
    }),
  );
  const red = checks
    .filter((check) => check.required && (check.final === 'failed' || check.final === 'timed_out'))
    .map(
      (check): Finding => ({
        rule: check.classification === 'regressed' ? 'belay/check-regressed' : 'belay/check-failing',
        text: `The check ${oneLine(check.name)} fails (${oneLine(check.command, 400)})${check.reason === null ? '' : `: ${oneLine(check.reason, 400)}`}`,
        path: null,
      }),
    );
  return [...denied, ...red, ...violations(view), ...areas(view)];
}

function violations(view: ReportView): Finding[] {
  if (view.result?.outcome !== 'policy_violation') return [];
  return [{ rule: 'belay/policy-violation', text: plainText(explainOutcome(view).why), path: null }];
}

function areas({ result }: ReportView): Finding[] {
  if (result === null) return [];
  const review = result.review.flatMap(({ label, paths }) =>
    paths.map(
      (path): Finding => ({ rule: 'belay/review-area', text: `${oneLine(label)}: ${oneLine(path)} is changed`, path }),
    ),
  );
  const tests = result.changes.tests.map(
    (path): Finding => ({ rule: 'belay/test-change', text: `${oneLine(path)} is changed`, path }),
  );
  return [...review, ...tests];
}

function withFingerprints(findings: readonly Finding[]): NonNullable<Run['results']> {
  const seen = new Map<string, number>();
  return findings.map(({ rule, text, path }) => {
    const print = createHash('sha256')
      .update(JSON.stringify([rule, text, path]))
      .digest('hex');
    const nth = (seen.get(print) ?? 0) + 1;
    seen.set(print, nth);
    return {
      ruleId: rule,
      ruleIndex: IDS.indexOf(rule),
      level: RULES[rule].level,
      message: { text },
      // Code scanning wants a place for every finding; what is about the run as a whole is told at the policy.
      locations: [
        { physicalLocation: { artifactLocation: { uri: uriOf(path ?? 'belay.yml') }, region: { startLine: 1 } } },
      ],
      // GitHub tells alerts apart by the second name alone; without it, by the line, which they share.
      partialFingerprints: { 'belay/v1': `${print}:${nth}`, primaryLocationLineHash: `${print.slice(0, 16)}:${nth}` },
    };
  });
}

/** A relative reference: no scheme, no host, no escape from the repository, whatever the path is called. */
function uriOf(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map((part) => encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\ufffd')))
    .join('/');
}
