import { renderCost, renderDuration, renderTokens } from '../events/index.ts';
import { explainOutcome } from './explain-outcome.ts';
import { type Html, html } from './html.ts';
import { count, htmlSentence } from './html-parts.ts';
import type { ReportView } from './report-view.ts';

const MARKS = { good: '✓', warning: '!', bad: '✗' };

/** What a reader has to know first: the verdict, why, and what it took. */
export function htmlVerdict(view: ReportView): Html {
  const { tone, headline, why } = explainOutcome(view);
  const { start, result } = view;
  const model = result?.model ?? start?.model ?? null;
  const when = (result?.started_at ?? start?.time ?? '').replace('T', ' ').replace(/\..*$/, ' UTC');
  const about = [
    html`<span>belay report</span>`,
    when === '' ? null : html`<span>${when}</span>`,
    model === null ? null : html`<span><bdi>${model.provider}/${model.name}</bdi></span>`,
  ];
  return html`<header class="verdict ${tone}">
<p class="about">${about}</p>
<div class="head"><span class="mark" aria-hidden="true">${MARKS[tone]}</span><h1>${headline}</h1>${evidence(view)}</div>
<p class="why">${htmlSentence(why)}</p>
${tiles(view)}
</header>`;
}

function evidence({ result }: ReportView): Html | null {
  if (result === null) return null;
  const words = { fixed: 'evidence: red → green', kept: 'evidence: stayed green', none: null }[result.evidence];
  return html`<span class="tags">${words === null ? null : html`<span class="tag">${words}</span>`}<span class="tag">exit ${result.exit_code}</span></span>`;
}

function tiles({ result }: ReportView): Html | null {
  if (result === null) return null;
  const { files } = result.changes;
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const ran = result.checks.filter((check) => check.final !== null && check.final !== 'skipped');
  const passed = ran.filter((check) => check.final === 'passed').length;
  const facts: readonly (readonly [string, Html | string])[] = [
    ['checks', ran.length === 0 ? 'none run' : `${passed} of ${ran.length} pass`],
    [
      'change',
      files.length === 0
        ? 'none'
        : html`${count(files.length, 'file')} <span class="plus">+${added}</span> <span class="minus">−${removed}</span>`,
    ],
    ['turns', String(result.limits.turns.used)],
    ['tokens', renderTokens(result.usage.input_tokens + result.usage.output_tokens)],
    ['cost', result.cost_usd === null ? 'unknown' : renderCost(result.cost_usd)],
    ['time', renderDuration(result.duration_ms)],
  ];
  return html`<dl class="tiles">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A log that cannot be trusted says so before anything else. */
export function htmlBanner({ log, result }: ReportView): Html | null {
  if (log.faults.length === 0) return null;
  const shown = log.faults.slice(0, 10).map((fault) => html`<li>line ${fault.line}: <bdi>${fault.reason}</bdi></li>`);
  const more = log.faults.length > 10 ? html`<li>and ${log.faults.length - 10} more</li>` : null;
  const what =
    result === null
      ? 'The log was cut off or damaged before its verdict. What is shown is what is left of it, and proves nothing.'
      : 'The log is not as it was written: lines are missing, changed or foreign. Do not trust this report, its verdict included.';
  return html`<section class="banner" role="alert"><h2>This log is broken</h2><p>${what}</p><ul>${shown}${more}</ul></section>`;
}

export function htmlGoal({ result, start }: ReportView): Html | null {
  const goal = result?.goal ?? start?.goal ?? null;
  if (goal === null) return null;
  return html`<section class="card" id="goal"><h2>Goal</h2><p class="prose">${bounded(goal.text)}</p></section>`;
}

/** What the agent says of its work: behind what belay found out about it. */
export function htmlWords({ result }: ReportView): Html | null {
  if (result === null) return null;
  const message = result.message.trim();
  if (message === '' && result.question === null && result.risks.length === 0) return null;
  return html`<section class="card words" id="words">
${message === '' ? null : html`<div><h2>What the agent says</h2><p class="prose">${bounded(message)}</p></div>`}
${result.question === null ? null : html`<div><h2>It asks</h2><p class="prose">${bounded(result.question)}</p></div>`}
${result.risks.length === 0 ? null : html`<div><h2>Risks that it names</h2><ul>${result.risks.slice(0, 50).map((risk) => html`<li><bdi>${bounded(risk)}</bdi></li>`)}</ul></div>`}
</section>`;
}

const bounded = (text: string) => (text.length > 20_000 ? `${text.slice(0, 20_000)} ⋯` : text.trim());
