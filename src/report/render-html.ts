import { ABOUT_BELAY, explainOutcome } from './explain-outcome.ts';
import { html } from './html.ts';
import { htmlUsage } from './html-charts.ts';
import { htmlChange, htmlChecks, htmlDenials, htmlFacts } from './html-evidence.ts';
import { htmlPage } from './html-page.ts';
import { htmlTimeline } from './html-timeline.ts';
import { htmlBanner, htmlGoal, htmlVerdict, htmlWords } from './html-verdict.ts';
import type { ReportView } from './report-view.ts';

/** A run as one page for people: verdict and evidence first, then what was done, turn by turn. */
export function renderHtml(view: ReportView): string {
  const change = htmlChange(view);
  const denials = htmlDenials(view);
  const words = htmlWords(view);
  const usage = htmlUsage(view);
  const links = [
    html`<a href="#evidence">Checks</a>`,
    change === null ? null : html`<a href="#change">Change</a>`,
    denials === null ? null : html`<a href="#denials">Denied</a>`,
    words === null ? null : html`<a href="#words">Agent</a>`,
    html`<a href="#timeline">Timeline</a>`,
    usage === null ? null : html`<a href="#used">Used</a>`,
    html`<a href="#facts">Facts</a>`,
  ];
  const goal = (view.result?.goal ?? view.start?.goal)?.text.trim().split('\n', 1)[0]?.slice(0, 80) ?? '';
  return htmlPage(
    `${explainOutcome(view).headline}${goal === '' ? '' : ` – ${goal}`}`,
    html`${htmlBanner(view)}${htmlVerdict(view)}
<nav aria-label="Parts of the report">${links}</nav>
<main id="main">${htmlGoal(view)}${htmlChecks(view)}${change}${denials}${words}${htmlTimeline(view)}${usage}${htmlFacts(view)}</main>
<footer>${ABOUT_BELAY} This page is made from the log ${view.log.source}; it fetches nothing and runs no script.</footer>`,
  );
}
