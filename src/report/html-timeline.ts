import { renderCost, renderDuration, renderTokens } from '../events/index.ts';
import { type Html, html } from './html.ts';
import { count, htmlBlock } from './html-parts.ts';
import type { Entry, ItemView, ReportView, Section } from './report-view.ts';

/** Runs of up to this many sections lie open. */
const OPEN_SECTIONS = 14;
const SHORT_PROSE = 1_500;
/** Of longer runs, only what is near the window is laid out. */
const LONG_RUN = 80;
/** Longer ones get a line of their own. */
const LONG_NOTE = 40;

export function htmlTimeline({ sections, omittedSections, omittedAt }: ReportView): Html {
  const open = sections.length <= OPEN_SECTIONS;
  const gap =
    omittedSections === 0
      ? null
      : html`<li class="gap">${count(omittedSections, 'step')} of the run are left out here; the log has them.</li>`;
  const rows = sections.map((section) => htmlSection(section, open));
  const body =
    sections.length === 0
      ? html`<p class="empty">Nothing was done.</p>`
      : html`<ol class="timeline${sections.length > LONG_RUN ? ' long' : ''}">${rows.slice(0, omittedAt)}${gap}${rows.slice(omittedAt)}</ol>`;
  return html`<section class="card" id="timeline"><h2>Timeline</h2>${body}</section>`;
}

function htmlSection(section: Section, open: boolean): Html {
  const middle = Math.ceil(section.entries.length / 2);
  const gap =
    section.omittedEntries === 0
      ? null
      : html`<p class="cut">${count(section.omittedEntries, 'step')} left out here.</p>`;
  const entries = section.entries.map(htmlEntry);
  const body =
    section.omittedEntries === 0 ? html`${entries}` : html`${entries.slice(0, middle)}${gap}${entries.slice(middle)}`;
  const isEmpty = section.entries.length === 0 && !(section.kind === 'turn' && section.end?.error != null);
  const error =
    section.kind === 'turn' && section.end?.error != null ? html`<p class="event bad">${section.end.error}</p>` : null;
  const head = html`<span class="step">${titleOf(section)}</span>${gist(section)}<span class="note">${factsOf(section)}</span>`;
  if (isEmpty) return html`<li class="section ${toneOf(section)}"><div class="summary">${head}</div></li>`;
  return html`<li class="section ${toneOf(section)}"><details${open ? html` open` : null}><summary>${head}</summary><div class="entries">${body}${error}</div></details></li>`;
}

function titleOf(section: Section): string {
  if (section.kind === 'turn') return `Turn ${section.turn}`;
  if (section.kind === 'verification')
    return section.cleanRoom ? 'Checks in the clean room' : `Checks, attempt ${section.attempt}`;
  return {
    setup: 'Setup',
    baseline: 'Checks before the change',
    agent: 'Agent',
    verify: 'Checks',
    clean_room: 'Checks in the clean room',
  }[section.phase];
}

function toneOf(section: Section): string {
  if (section.kind === 'verification')
    return section.passed === null ? 'stage' : section.passed ? 'stage good' : 'stage bad';
  return section.kind === 'turn' ? (section.end?.error != null ? 'turn bad' : 'turn') : 'stage';
}

/** What a closed section was about, in a few words. */
function gist(section: Section): Html | null {
  if (section.kind === 'verification') {
    if (section.passed === null) return html`<span class="gist">under way when the log ends</span>`;
    return html`<span class="gist">${section.passed ? 'all required checks pass' : 'the checks do not pass'}</span>`;
  }
  const items = section.entries.filter((entry): entry is ItemView => entry.kind === 'item');
  const words =
    items.find((item) => item.type === 'agent_message') ?? items.find((item) => item.type !== 'reasoning') ?? items[0];
  if (words === undefined) return null;
  return html`<span class="gist"><bdi>${words.title}</bdi></span>`;
}

function factsOf(section: Section): string {
  if (section.kind !== 'turn') return '';
  if (section.end === null) return 'under way when the log ends';
  const { usage, costUsd, durationMs, changedPaths } = section.end;
  return [
    changedPaths === 0 ? null : `${count(changedPaths, 'file')} changed`,
    `${renderTokens(usage.input_tokens)} → ${renderTokens(usage.output_tokens)} tokens`,
    costUsd === null ? null : renderCost(costUsd),
    renderDuration(durationMs),
  ]
    .filter((fact) => fact !== null)
    .join(' · ');
}

function htmlEntry(entry: Entry): Html {
  if (entry.kind === 'note') return html`<p class="event ${entry.tone}"><bdi>${entry.text}</bdi></p>`;
  const [first] = entry.blocks;
  if (entry.type === 'agent_message' && entry.blocks.length <= 1 && (first?.text.length ?? 0) <= SHORT_PROSE)
    return first === undefined ? html`` : html`<p class="prose said">${first.text.trim()}</p>`;
  const head = html`<span class="icon ${colourOf(entry)}" title="${entry.type.replaceAll('_', ' ')}">${iconOf(entry)}</span><span class="sr">${entry.type.replaceAll('_', ' ')}: </span>${titleHtml(entry)}${note(entry)}`;
  if (entry.blocks.length === 0) return html`<div class="item">${head}</div>`;
  return html`<details class="item"><summary>${head}</summary><div class="body">${entry.blocks.map(htmlBlock)}</div></details>`;
}

const ICONS: Record<ItemView['type'], string> = {
  agent_message: '“',
  reasoning: '…',
  command_execution: '$',
  file_change: '±',
  mcp_tool_call: '⧉',
  todo_list: '☰',
  error: '!',
  tool_call: '›',
  check: '✓',
  service: '⚙',
  denial: '⊘',
};

const iconOf = ({ type, status }: ItemView) => (type === 'check' && status !== 'completed' ? '✗' : ICONS[type]);

function colourOf({ type, status }: ItemView): string {
  if (type === 'denial') return 'warning';
  if (type === 'check') return status === 'completed' ? 'good' : 'bad';
  return status === 'completed' || status === 'in_progress' ? 'plain' : 'bad';
}

const CODE = new Set<ItemView['type']>(['command_execution', 'file_change', 'denial']);

function titleHtml({ type, title }: ItemView): Html {
  return CODE.has(type)
    ? html`<code class="title">${title}</code>`
    : html`<span class="title"><bdi>${title}</bdi></span>`;
}

function note({ note: text, status, durationMs }: ItemView): Html {
  const state = status === 'completed' || (status === 'failed' && text !== null) ? null : status.replaceAll('_', ' ');
  const time = durationMs === null || durationMs < 100 ? null : renderDuration(durationMs);
  const long = text !== null && text.length > LONG_NOTE ? ' long' : '';
  return html`<span class="note${long}">${text === null ? null : html`<bdi class="bad-text">${text}</bdi> `}${[state, time].filter((one) => one !== null).join(' · ')}</span>`;
}
