import type { Colors } from './colors.ts';
import { renderCost, renderDuration, renderTokens } from './render-quantity.ts';
import type { CheckResult, CheckStatus, Result } from './result.ts';
import { oneLine, quoteLines } from './visible-text.ts';

/** More are counted only; the result has them all. */
const SHOWN_FILES = 30;

/** The end of a run: outcome and reason, what the agent said, checks before and after, the change, what it took. */
export function renderVerdict(result: Result, colors: Colors): string {
  const lines = ['', renderOutcome(result, colors), `  ${oneLine(result.reason, 1000)}`];
  if (result.message.trim() !== '')
    lines.push(quoteLines(result.message, { prefix: colors.dim('  │ '), maxLines: 20 }));
  if (result.question !== null) lines.push(`  question  ${oneLine(result.question, 1000)}`);
  for (const risk of result.risks) lines.push(`  risk      ${oneLine(risk, 400)}`);
  if (result.checks.length > 0) lines.push('  checks', ...result.checks.map((check) => renderCheck(check, colors)));
  // A run that was refused before its first request has nothing else to tell.
  const isRefused = result.outcome === 'usage_error' && result.usage.requests === 0;
  if (isRefused) return lines.join('\n');
  lines.push(...renderChanges(result, colors));
  for (const { label, paths } of result.review)
    lines.push(colors.yellow(`  review    ${oneLine(label)}: ${paths.map((p) => oneLine(p)).join(', ')}`));
  if (result.denials.length > 0)
    lines.push(`  denied    ${result.denials.length} ${result.denials.length === 1 ? 'action' : 'actions'}`);
  lines.push(`  used      ${renderUse(result)}`);
  if (result.changes.patch !== null) lines.push(`  patch     ${oneLine(result.changes.patch, 1000)}`);
  if (result.thread_id !== '') lines.push(`  thread    ${oneLine(result.thread_id)}`);
  return lines.join('\n');
}

function renderOutcome(result: Result, { bold, green, red, yellow }: Colors): string {
  const color = result.verified ? green : result.outcome === 'unchecked' ? yellow : red;
  const evidence = result.evidence === 'none' ? '' : ` · evidence: ${result.evidence}`;
  return `${bold(color(result.outcome.replaceAll('_', ' ').toUpperCase()))} (exit ${result.exit_code})${evidence}`;
}

function renderCheck(check: CheckResult, colors: Colors): string {
  const mark = check.final === 'passed' ? colors.green('✓') : check.final === null ? colors.dim('–') : colors.red('✗');
  const notes = [check.classification, check.required ? null : 'optional'].filter((note) => note !== null);
  const change = `${renderStatus(check.baseline, colors)} → ${renderStatus(check.final, colors)}`;
  const noted = notes.length === 0 ? '' : colors.dim(`  ${notes.join(', ').replaceAll('_', ' ')}`);
  return `    ${mark} ${oneLine(check.name)}  ${change}  ${renderDuration(check.duration_ms)}${noted}`;
}

function renderStatus(status: CheckStatus | null, { green, red, dim }: Colors): string {
  if (status === 'passed') return green('green');
  return status === 'failed' || status === 'timed_out' ? red('red') : dim('not run');
}

function renderChanges({ changes }: Result, { dim, green, red }: Colors): string[] {
  const { files } = changes;
  if (files.length === 0) return ['  changes   none'];
  const sum = (key: 'added' | 'removed') => files.reduce((total, file) => total + file[key], 0);
  const shown = files.slice(0, SHOWN_FILES).map((file) => {
    const size = file.binary ? dim('binary') : `${green(`+${file.added}`)} ${red(`-${file.removed}`)}`;
    return `    ${{ add: 'A', update: 'M', delete: 'D' }[file.kind]} ${oneLine(file.path)}  ${size}`;
  });
  const more = files.length > SHOWN_FILES ? [`    ${files.length - SHOWN_FILES} more`] : [];
  const restored = changes.restored ? ' (the workspace is as it was)' : '';
  return [
    `  changes   ${files.length} ${files.length === 1 ? 'file' : 'files'}, +${sum('added')} -${sum('removed')}${restored}`,
    ...shown,
    ...more,
  ];
}

function renderUse(result: Result): string {
  const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = result.usage;
  const turns = result.limits.turns.used;
  return [
    renderCost(result.cost_usd),
    `${renderTokens(input + output)} tokens (${renderTokens(input)} in, ${renderTokens(cached)} of them cached, ${renderTokens(output)} out)`,
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    renderDuration(result.duration_ms),
  ].join(' · ');
}
