import type { CheckResult } from '../events/index.ts';
import { stripColours } from '../verify/index.ts';
import { explainOutcome, plainText } from './explain-outcome.ts';
import type { ReportView } from './report-view.ts';
import { xmlAttribute, xmlText } from './xml-text.ts';

/**
 * JUnit XML in the form that CI systems read: a case a check, with its state before the change as properties, and one case, `verdict`, for
 * the run itself, so that a run that failed without a failing check is red too.
 */
export function renderJunit(view: ReportView): string {
  const { result, checks, start } = view;
  const cases = [...checks.map(checkCase), verdictCase(view)];
  const failures = cases.filter((one) => one.state === 'failure').length;
  const errors = cases.filter((one) => one.state === 'error').length;
  const skipped = cases.filter((one) => one.state === 'skipped').length;
  const seconds = secondsOf(result?.duration_ms ?? 0);
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds}"`;
  const began = start?.time.replace(/Z$/, '') ?? null;
  const suite = `name="belay" ${counts}${began === null ? '' : ` timestamp="${began}"`}`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="belay" tests="${cases.length}" failures="${failures}" errors="${errors}" time="${seconds}">`,
    `  <testsuite ${suite}>`,
    ...properties(runFacts(view), '    '),
    ...cases.map((one) => one.xml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

type State = 'passed' | 'failure' | 'error' | 'skipped';
type Case = { state: State; xml: string };

function checkCase(check: CheckResult): Case {
  const state = stateOf(check);
  const facts = [
    ['command', check.command],
    ['required', String(check.required)],
    ['baseline', check.baseline ?? 'not_run'],
    ['final', check.final ?? 'not_run'],
    ['classification', check.classification ?? 'none'],
  ] as const;
  const what = [check.reason, check.exit_code === null ? null : `exit code ${check.exit_code}`].filter(
    (one) => one !== null,
  );
  const message = xmlAttribute(what.join('; ') || (check.final ?? 'not run'));
  const output = stripColours(check.output_tail);
  const body =
    state === 'failure' || state === 'error'
      ? [`      <${state} message="${message}" type="${check.final ?? 'none'}">${xmlText(output)}</${state}>`]
      : state === 'skipped'
        ? [`      <skipped message="${message}"/>`]
        : [];
  return {
    state,
    xml: [
      `    <testcase classname="belay.checks" name="${xmlAttribute(check.name)}" time="${secondsOf(check.duration_ms)}">`,
      ...properties(facts, '      '),
      ...body,
      ...(state === 'passed' && output !== '' ? [`      <system-out>${xmlText(output)}</system-out>`] : []),
      '    </testcase>',
    ].join('\n'),
  };
}

/** A check that is not required and red does not make the run red: it is told as skipped, with its state in the properties. */
function stateOf({ final, required }: CheckResult): State {
  if (final === 'passed') return 'passed';
  if (final === null || final === 'skipped' || !required) return 'skipped';
  return final === 'timed_out' ? 'error' : 'failure';
}

function verdictCase(view: ReportView): Case {
  const { result, log } = view;
  const { headline, why } = explainOutcome(view);
  const good = result !== null && log.faults.length === 0 && (result.verified || result.exit_code === 0);
  const tag = result?.outcome === 'unverified' || result?.outcome === 'policy_violation' ? 'failure' : 'error';
  const faults = log.faults.map((fault) => `line ${fault.line}: ${fault.reason}`).join('\n');
  const body = good
    ? []
    : [
        `      <${tag} message="${xmlAttribute(plainText(why))}" type="${result?.outcome ?? 'no_verdict'}">${xmlText(faults === '' ? headline : `The log is broken.\n${faults}`)}</${tag}>`,
      ];
  return {
    state: good ? 'passed' : tag,
    xml: [
      `    <testcase classname="belay" name="verdict" time="${secondsOf(result?.duration_ms ?? 0)}">`,
      ...body,
      '    </testcase>',
    ].join('\n'),
  };
}

function runFacts({ result, start }: ReportView): (readonly [string, string])[] {
  const model = result?.model ?? start?.model ?? null;
  return [
    ['outcome', result?.outcome ?? 'no_verdict'],
    ['evidence', result?.evidence ?? 'none'],
    ['run_id', result?.run_id ?? start?.run_id ?? ''],
    ['thread_id', result?.thread_id ?? start?.thread_id ?? ''],
    ['belay_version', start?.belay_version ?? ''],
    ['model', model === null ? '' : `${model.provider}/${model.name}`],
    ['base_commit', result?.changes.base_commit ?? ''],
    ['patch_sha256', result?.changes.patch_sha256 ?? ''],
    ['cost_usd', result?.cost_usd === null || result === null ? '' : String(result.cost_usd)],
  ].flatMap(([name, value]) =>
    name === undefined || value === undefined || value === '' ? [] : [[name, value] as const],
  );
}

function properties(facts: readonly (readonly [string, string])[], indent: string): string[] {
  return [
    `${indent}<properties>`,
    ...facts.map(([name, value]) => `${indent}  <property name="${name}" value="${xmlAttribute(value)}"/>`),
    `${indent}</properties>`,
  ];
}

const secondsOf = (ms: number) => (ms / 1000).toFixed(3);
