import { createHash } from 'node:crypto';
import type { Event, EventLine, Item, Result } from '../events/index.ts';
import { auditEvents } from '../thread/index.ts';
import { createChartPoints } from './chart-points.ts';
import type { Entry, ItemView, LogFacts, ReportView, Section } from './report-view.ts';
import { createSectionList } from './section-list.ts';
import { createSeenChecks } from './seen-checks.ts';
import { createTextBudget } from './text-budget.ts';
import { viewItem } from './view-item.ts';
import { viewNote } from './view-note.ts';

/** Entries of one section that are kept: the first and the last half of these. */
const MAX_ENTRIES = 200;
const MAX_DENIALS = 500;
/** Items that are open at once; a log can claim any number. */
const MAX_OPEN = 100;

/**
 * Folds a log into what a reader sees of it: one pass, in memory bounded whatever the length. A broken or cut-off log gives a view too,
 * with its faults in `log`.
 */
export async function foldReport(
  lines: AsyncIterable<EventLine>,
  { source, severalRuns = false }: { source: string; severalRuns?: boolean },
): Promise<ReportView> {
  const fold = createFold();
  async function* told() {
    for await (const line of lines) {
      if (line.kind === 'event') fold.add(line.event, line.line);
      yield line;
    }
  }
  const { events, faults } = await auditEvents(told(), { severalRuns });
  return fold.finish({ source, events, faults });
}

function createFold() {
  const list = createSectionList();
  const budget = createTextBudget(() => list.kept());
  const points = createChartPoints();
  const seenChecks = createSeenChecks();
  const open = new Map<string, Item>();
  const denials: ReportView['denials'][number][] = [];
  let start: ReportView['start'] = null;
  let result: Result | null = null;
  let current: Section | null = null;
  let lastLine: string | null = null;
  let totalCostUsd: number | null = 0;

  function enter(section: Section): Section {
    if (current !== null) list.push(current);
    current = section;
    return section;
  }

  function sectionFor(event: Extract<Event, { type: 'item.completed' }>): Section {
    const { phase } = event;
    if (current?.kind === 'turn' && phase === 'agent') return current;
    if (current?.kind === 'verification' && (phase === 'verify' || phase === 'clean_room')) return current;
    if (current?.kind === 'stage' && current.phase === phase) return current;
    return enter({ kind: 'stage', phase, entries: [], omittedEntries: 0 });
  }

  function put(entry: Entry, section: Section): void {
    budget.admit(entry, section);
    section.entries.push(entry);
    if (section.entries.length <= MAX_ENTRIES) return;
    section.entries.splice(MAX_ENTRIES / 2, 1);
    section.omittedEntries++;
  }

  function endTurn(event: Extract<Event, { type: 'turn.completed' | 'turn.failed' }>): void {
    const costUsd = event.type === 'turn.completed' ? event.cost_usd : null;
    totalCostUsd =
      totalCostUsd === null || (costUsd === null && event.type === 'turn.completed')
        ? null
        : totalCostUsd + (costUsd ?? 0);
    points.add({
      turn: event.turn,
      inputTokens: event.usage.input_tokens,
      cachedTokens: event.usage.cached_input_tokens,
      outputTokens: event.usage.output_tokens,
      totalTokens: event.total_usage.input_tokens + event.total_usage.output_tokens,
      totalCostUsd,
    });
    const turn = current?.kind === 'turn' && current.turn === event.turn ? current : null;
    if (turn === null) return;
    turn.end = {
      usage: event.usage,
      costUsd,
      durationMs: event.duration_ms,
      changedPaths: event.type === 'turn.completed' ? event.changes.length : 0,
      error: event.type === 'turn.failed' ? event.error.message : null,
    };
  }

  function addItem(event: Extract<Event, { type: 'item.completed' }>): void {
    open.delete(event.item.id);
    seenChecks.add(event);
    if (event.item.type === 'denial' && denials.length < MAX_DENIALS) {
      const { action, rule, reason } = event.item;
      denials.push({ action, rule, reason });
    }
    const section = sectionFor(event);
    put(tellApart(viewItem(event.item), section), section);
  }

  function add(event: Event, line: string): void {
    lastLine = line;
    const none = { entries: [], omittedEntries: 0 };
    switch (event.type) {
      case 'run.started':
        start = event;
        // A thread may hold a run before this one; its verdict is history.
        result = null;
        return;
      case 'turn.started':
        enter({ ...none, entries: [], kind: 'turn', turn: event.turn, attempt: event.attempt, end: null });
        return;
      case 'turn.completed':
      case 'turn.failed':
        endTurn(event);
        return;
      case 'item.started':
        if (open.size < MAX_OPEN) open.set(event.item.id, event.item);
        return;
      case 'item.completed':
        addItem(event);
        return;
      case 'verification.started':
        enter({
          ...none,
          entries: [],
          kind: 'verification',
          attempt: event.attempt,
          cleanRoom: event.clean_room,
          passed: null,
        });
        return;
      case 'verification.completed':
        seenChecks.judge(event);
        if (current?.kind === 'verification') current.passed = event.passed;
        return;
      case 'run.completed':
        result = event.result;
        return;
      default: {
        const note = viewNote(event);
        if (note !== null) put(note, current ?? enter({ ...none, entries: [], kind: 'stage', phase: 'setup' }));
      }
    }
  }

  function finish(log: Omit<LogFacts, 'chainHead'>): ReportView {
    // What was under way when the log broke off.
    if (current !== null && result === null) for (const item of open.values()) put(viewItem(item), current);
    if (current !== null) list.push(current);
    return {
      log: { ...log, chainHead: lastLine === null ? null : createHash('sha256').update(lastLine).digest('hex') },
      start,
      result,
      checks: result?.checks ?? seenChecks.read(),
      ...list.read(),
      points: points.read(),
      denials: result?.denials ?? denials,
      patch: null,
    };
  }
  return { add, finish };
}

/** The same check once more: on other versions of the tests, or to see whether it is flaky. */
function tellApart(item: ItemView, { kind, entries }: Section): ItemView {
  if (item.type !== 'check' || kind !== 'verification') return item;
  const isAgain = entries.some((one) => one.kind === 'item' && one.type === 'check' && one.title === item.title);
  return isAgain ? { ...item, title: `${item.title}, once more` } : item;
}
