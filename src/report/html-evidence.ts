import { type ChangedFile, type CheckResult, type Result, renderDuration } from '../events/index.ts';
import { type Html, html } from './html.ts';
import { htmlDiff, splitPatch } from './html-diff.ts';
import { count, htmlBlock, htmlCut, htmlStatus } from './html-parts.ts';
import { keepEnds } from './keep-ends.ts';
import type { ReportView } from './report-view.ts';

const MAX_CHECKS = 300;
const MAX_FILES = 500;
/** Diffs that are open when the page is: few and short. */
const OPEN_FILES = 4;
const OPEN_CHARACTERS = 6_000;

export function htmlChecks({ checks }: ReportView): Html {
  const body =
    checks.length === 0
      ? html`<p class="empty">No check was run: nothing here is proven.</p>`
      : html`<div class="checks" role="table" aria-label="Checks before and after the change">${checks.slice(0, MAX_CHECKS).map(htmlCheck)}</div>`;
  return html`<section class="card" id="evidence"><h2>Checks</h2>${body}${more(checks.length, MAX_CHECKS, 'check')}</section>`;
}

function htmlCheck(check: CheckResult): Html {
  const notes = [check.classification?.replaceAll('_', ' ') ?? null, check.required ? null : 'optional'].filter(
    (note) => note !== null,
  );
  const tests = check.tests === null ? null : `${count(check.tests, 'test')}`;
  const red = check.required && (check.final === 'failed' || check.final === 'timed_out');
  const output = { label: 'end of the output', kind: 'output' as const, text: check.output_tail, cutCharacters: 0 };
  return html`<details class="check"${red ? html` open` : null}><summary>
<span class="name"><bdi>${oneLine(check.name)}</bdi></span>
<span class="move"><span class="sr">before: </span>${htmlStatus(check.baseline)}<span class="arrow" aria-hidden="true">→</span><span class="sr">after: </span>${htmlStatus(check.final)}</span>
<span class="note">${[...notes, tests, renderDuration(check.duration_ms)].filter((one) => one !== null).join(' · ')}</span>
</summary><div class="body">
${check.reason === null ? null : html`<p class="why-not"><bdi>${check.reason}</bdi></p>`}
${htmlBlock({ label: 'command', kind: 'output', ...keepEnds(check.command, 4_000) })}
${check.output_tail.trim() === '' ? html`<p class="empty">It printed nothing.</p>` : htmlBlock(output)}
</div></details>`;
}

export function htmlChange(view: ReportView): Html | null {
  const { result } = view;
  if (result === null) return null;
  const { files, restored, tests, dependencies } = result.changes;
  const state = restored ? html`<p class="aside">The change was taken back: the workspace is as it was.</p>` : null;
  const body = files.length === 0 ? html`<p class="empty">No file was changed.</p>` : htmlFiles(view, files);
  return html`<section class="card" id="change"><h2>Change</h2>${state}${body}
${list(
  'Files that judge the work are among them',
  tests.map((path) => html`<code>${path}</code>`),
)}
${list(
  'Dependencies',
  dependencies.map(
    (one) =>
      html`<code>${one.name}</code> <bdi>${one.from ?? 'none'}</bdi> → <bdi>${one.to ?? 'none'}</bdi> in <code>${one.path}</code>`,
  ),
)}
${list(
  'A person should look at',
  result.review.map(
    (area) =>
      html`<strong><bdi>${area.label}</bdi></strong>: ${area.paths.slice(0, 20).map((path) => html`<code>${path}</code> `)}`,
  ),
)}
</section>`;
}

function htmlFiles({ patch }: ReportView, files: readonly ChangedFile[]): Html {
  const diffs = new Map(patch === null ? [] : splitPatch(patch.text).map(({ title, text }) => [title, text]));
  const rows = files.slice(0, MAX_FILES).map((file) => {
    const diff = diffs.get(file.path);
    const head = html`<span class="kind ${file.kind}">${{ add: 'A', update: 'M', delete: 'D' }[file.kind]}</span><code>${file.path}</code>${htmlSize(file)}`;
    if (diff === undefined || diff.trim() === '') return html`<div class="file">${head}</div>`;
    const open = files.length <= OPEN_FILES && diff.length <= OPEN_CHARACTERS ? html` open` : null;
    return html`<details class="file"${open}><summary>${head}</summary>${htmlDiff(diff)}</details>`;
  });
  const cut = patch === null ? null : htmlCut(patch.cutCharacters);
  return html`<div class="files">${rows}</div>${more(files.length, MAX_FILES, 'file')}${cut}`;
}

function htmlSize({ binary, added, removed }: ChangedFile): Html {
  if (binary) return html`<span class="size">binary</span>`;
  return html`<span class="size"><span class="plus">+${added}</span> <span class="minus">−${removed}</span></span>`;
}

export function htmlDenials({ denials }: ReportView): Html | null {
  if (denials.length === 0) return null;
  const rows = denials
    .slice(0, 200)
    .map(
      ({ action, rule, reason }) =>
        html`<li><code>${keepEnds(action, 1_000).text}</code><p><strong><bdi>${rule}</bdi></strong> <bdi>${keepEnds(reason, 600).text}</bdi></p></li>`,
    );
  return html`<section class="card" id="denials"><h2>Denied</h2><p class="aside">The agent tried ${count(denials.length, 'action')} that the policy or the sandbox does not allow. None of it happened.</p><ul class="denials">${rows}</ul>${more(denials.length, 200, 'denial')}</section>`;
}

function list(title: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<h3>${title}</h3><ul>${items.slice(0, 100).map((item) => html`<li>${item}</li>`)}</ul>${more(items.length, 100, 'entry')}`;
}

function more(all: number, shown: number, thing: string): Html | null {
  return all > shown ? html`<p class="cut">${count(all - shown, thing)} more in the log.</p>` : null;
}

const oneLine = (text: string) => keepEnds(text.replace(/\s+/g, ' ').trim(), 200).text;

/** Where everything came from, for whoever has to trace it. */
export function htmlFacts({ start, result, log }: ReportView): Html {
  const policy = result?.policy ?? start?.policy ?? null;
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['run', result?.run_id ?? start?.run_id],
    ['thread', result?.thread_id ?? start?.thread_id],
    ['belay', start?.belay_version],
    ['belay sources sha256', start?.belay_sources_sha256],
    ['policy', policy?.source],
    ['policy sha256', policy?.sha256],
    ['policy floor sha256', policy?.floor_sha256],
    ['goal sha256', result?.goal?.sha256 ?? start?.goal?.sha256],
    ['sandbox', sandboxOf(result, start)],
    ['base commit', baseOf(result, start)],
    ['final tree', result?.changes.tree],
    ['patch sha256', result?.changes.patch_sha256],
    ['log', `${count(log.events, 'event')}, ${log.faults.length === 0 ? 'whole' : 'broken'}`],
    ['last line sha256', log.chainHead],
  ];
  const known = rows.flatMap(([name, value]) =>
    value == null || value === ''
      ? []
      : [html`<div><dt>${name}</dt><dd><code>${keepEnds(value, 400).text}</code></dd></div>`],
  );
  return html`<section class="card" id="facts"><h2>Facts</h2><dl class="rows">${known}</dl></section>`;
}

function sandboxOf(result: Result | null, start: ReportView['start']): string | null {
  const sandbox = result?.sandbox ?? start?.sandbox ?? null;
  return sandbox === null ? null : `${sandbox.tier}, network ${sandbox.network}`;
}

function baseOf(result: Result | null, start: ReportView['start']): string | null {
  const commit = result?.changes.base_commit ?? start?.workspace?.base_commit ?? null;
  const dirty = result?.changes.base_dirty ?? start?.workspace?.dirty ?? false;
  return commit === null ? null : `${commit}${dirty ? ', and more that was not committed' : ''}`;
}
