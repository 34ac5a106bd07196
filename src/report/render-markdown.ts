import {
  type CheckResult,
  type CheckStatus,
  type Result,
  renderCost,
  renderDuration,
  renderTokens,
} from '../events/index.ts';
import { ABOUT_BELAY, explainOutcome } from './explain-outcome.ts';
import { codeBlock, codeCell, codeSpan } from './inert-markdown.ts';
import type { ReportView } from './report-view.ts';

const MAX_CHECKS = 100;
const MAX_FILES = 100;
const MAX_OUTPUTS = 10;
const MAX_DENIALS = 50;
const MAX_LISTED = 50;

const MARKS = { good: '✅', warning: '⚠️', bad: '❌' };

/**
 * A run for a job summary or the body of a pull request: verdict and why, checks, change, limits. Whatever the log holds,
 * it fits: GitHub takes 1 MiB of summary and 65,536 characters of a body; what does not fit is left out from the end.
 */
export function renderMarkdown(view: ReportView, { maxBytes = 60_000 }: { maxBytes?: number } = {}): string {
  const { tone, headline, why } = explainOutcome(view);
  const { result } = view;
  const exit = result === null ? '' : ` <sub>exit ${result.exit_code}</sub>`;
  const parts = [
    `## ${MARKS[tone]} ${headline}${exit}`,
    why.map((part) => (typeof part === 'string' ? part : codeSpan(part.foreign, 400))).join(''),
    ...brokenLog(view),
    ...goalPart(view),
    ...checksPart(view.checks),
    ...(result === null ? [] : resultParts(result)),
    ...outputsPart(view.checks),
    footer(view),
  ];
  return joinWithin(parts, maxBytes);
}

function brokenLog({ log }: ReportView): string[] {
  const [first] = log.faults;
  if (first === undefined) return [];
  return [
    `> [!WARNING]\n> **This log is broken**: ${log.faults.length === 1 ? 'one fault' : `${log.faults.length} faults`}, the first at line ${first.line}: ${codeSpan(first.reason)}. Do not trust what follows.`,
  ];
}

function goalPart({ result, start }: ReportView): string[] {
  const goal = result?.goal ?? start?.goal ?? null;
  if (goal === null) return [];
  return ['**Goal**', codeBlock(goal.text.trim(), { maxCharacters: 4_000, maxLines: 40, wrap: 100 })];
}

function checksPart(checks: readonly CheckResult[]): string[] {
  if (checks.length === 0) return ['**Checks**: none were run.'];
  const rows = checks
    .slice(0, MAX_CHECKS)
    .map(
      (check) =>
        `| ${mark(check.final)} ${codeCell(check.name, 80)} | ${word(check.baseline)} | ${word(check.final)} | ${meaning(check)} | ${renderDuration(check.duration_ms)} |`,
    );
  const more = checks.length > MAX_CHECKS ? [`${checks.length - MAX_CHECKS} more checks are in the result.`] : [];
  return ['### Checks', ['| check | before | after | | time |', '|---|---|---|---|---|', ...rows].join('\n'), ...more];
}

function resultParts(result: Result): string[] {
  return [...changesPart(result), ...wordsPart(result), ...denialsPart(result), ...limitsPart(result)];
}

function changesPart({ changes, review }: Result): string[] {
  const { files } = changes;
  if (files.length === 0) return ['**Change**: none.'];
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const rows = files
    .slice(0, MAX_FILES)
    .map(
      (file) =>
        `| ${{ add: 'added', update: 'changed', delete: 'deleted' }[file.kind]} | ${codeCell(file.path)} | ${file.binary ? 'binary' : `+${file.added} −${file.removed}`} |`,
    );
  const restored = changes.restored ? ' It was taken back: the workspace is as it was.' : '';
  return [
    '### Change',
    `${count(files.length, 'file')}, +${added} −${removed}.${restored}`,
    ['| | file | lines |', '|---|---|---|', ...rows].join('\n'),
    ...(files.length > MAX_FILES ? [`${files.length - MAX_FILES} more files are in the patch.`] : []),
    ...listOf(
      'Touches tests',
      changes.tests.map((path) => codeSpan(path)),
    ),
    ...listOf(
      'Changes dependencies',
      changes.dependencies.map(
        (one) =>
          `${codeSpan(one.name)} ${codeSpan(one.from ?? 'none')} → ${codeSpan(one.to ?? 'none')} in ${codeSpan(one.path)}`,
      ),
    ),
    ...listOf(
      'A person should look at',
      review.map(
        (area) =>
          `${codeSpan(area.label)}: ${area.paths
            .slice(0, 20)
            .map((path) => codeSpan(path))
            .join(', ')}`,
      ),
    ),
  ];
}

function wordsPart({ message, question, risks }: Result): string[] {
  return [
    ...(message.trim() === ''
      ? []
      : ['**What the agent says**', codeBlock(message.trim(), { maxCharacters: 6_000, maxLines: 60, wrap: 100 })]),
    ...(question === null
      ? []
      : ['**It asks**', codeBlock(question, { maxCharacters: 2_000, maxLines: 20, wrap: 100 })]),
    ...listOf(
      'Risks that it names',
      risks.map((risk) => codeSpan(risk, 400)),
    ),
  ];
}

function denialsPart({ denials }: Result): string[] {
  if (denials.length === 0) return [];
  return listOf(
    `Denied: ${count(denials.length, 'action')}`,
    denials
      .slice(0, MAX_DENIALS)
      .map((one) => `${codeSpan(one.action)} by ${codeSpan(one.rule)}: ${codeSpan(one.reason, 300)}`),
  );
}

function limitsPart(result: Result): string[] {
  const { limits, usage } = result;
  const rows: readonly (readonly [string, string, string])[] = [
    ['cost', renderCost(result.cost_usd), limits.cost_usd.max === null ? '–' : renderCost(limits.cost_usd.max)],
    [
      'tokens',
      `${renderTokens(usage.input_tokens + usage.output_tokens)} (${renderTokens(usage.cached_input_tokens)} of them cached)`,
      maxOf(limits.tokens.max, renderTokens),
    ],
    ['turns', String(limits.turns.used), maxOf(limits.turns.max, String)],
    ['attempts', String(limits.attempts.used), maxOf(limits.attempts.max, String)],
    ['tool calls', String(limits.tool_calls.used), maxOf(limits.tool_calls.max, String)],
    ['time', renderDuration(result.duration_ms), maxOf(limits.wall_time_ms.max, renderDuration)],
  ];
  return [
    '### Used',
    ['| | used | limit |', '|---|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n'),
  ];
}

/** What failed and how, folded away: the end of each failing check's output. */
function outputsPart(checks: readonly CheckResult[]): string[] {
  return checks
    .filter((check) => check.final !== 'passed' && check.output_tail.trim() !== '')
    .slice(0, MAX_OUTPUTS)
    .map((check, i) => {
      const block = codeBlock(check.output_tail, { maxCharacters: 4_096, maxLines: 80 });
      return `<details${i === 0 ? ' open' : ''}><summary>${check.final === null ? 'Output of a check before the change' : 'Output of a failing check'}</summary>\n\n${codeSpan(check.name, 80)} runs ${codeSpan(check.command, 300)}\n\n${block}\n\n</details>`;
    });
}

function footer({ start, result, log }: ReportView): string {
  const model = result?.model ?? start?.model ?? null;
  const sandbox = result?.sandbox ?? start?.sandbox ?? null;
  const policy = result?.policy ?? start?.policy ?? null;
  const facts = [
    start === null ? 'belay' : `belay ${codeSpan(start.belay_version, 40)}`,
    model === null ? null : `model ${codeSpan(`${model.provider}/${model.name}`, 120)}`,
    sandbox === null ? null : `sandbox ${codeSpan(sandbox.tier, 40)}, network ${codeSpan(sandbox.network, 120)}`,
    policy === null ? null : `policy ${codeSpan(policy.sha256.slice(0, 12))}`,
    result?.changes.base_commit ? `base ${codeSpan(result.changes.base_commit.slice(0, 12))}` : null,
    result?.changes.patch_sha256 && result.changes.files.length > 0
      ? `patch ${codeSpan(result.changes.patch_sha256.slice(0, 12))}`
      : null,
    `${log.events} events`,
  ].filter((fact) => fact !== null);
  return `<sub>${ABOUT_BELAY}</sub>\n\n<sub>${facts.join(' · ')}</sub>`;
}

function listOf(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_LISTED ? [`- and ${lines.length - MAX_LISTED} more`] : [];
  return [`**${title}**`, [...lines.slice(0, MAX_LISTED).map((line) => `- ${line}`), ...more].join('\n')];
}

/** Parts from the first on, as far as they fit. */
function joinWithin(parts: readonly string[], maxBytes: number): string {
  const remark = '_The rest does not fit here; the HTML report has it._';
  let text = '';
  for (const part of parts) {
    if (Buffer.byteLength(text) + Buffer.byteLength(part) + remark.length + 6 > maxBytes) return `${text}${remark}\n`;
    text += `${part}\n\n`;
  }
  return `${text.trimEnd()}\n`;
}

const mark = (status: CheckStatus | null) =>
  status === 'passed' ? '✅' : status === null || status === 'skipped' ? '➖' : '❌';
const word = (status: CheckStatus | null) =>
  status === null
    ? 'not run'
    : { passed: 'passed', failed: '**failed**', timed_out: '**timed out**', skipped: 'skipped' }[status];
const meaning = ({ classification, required }: CheckResult) =>
  [classification?.replaceAll('_', ' ') ?? null, required ? null : 'optional'].filter((one) => one !== null).join(', ');
const maxOf = (max: number | null, render: (value: number) => string) => (max === null ? '–' : render(max));
const count = (n: number, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`;
