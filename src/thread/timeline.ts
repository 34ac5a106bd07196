import type { Event, FileChange, Item, Outcome, Usage } from '../events/index.ts';
import type { StoredThread } from './open-thread.ts';
import { createRunEnds } from './run-ends.ts';
import type { ThreadNote } from './thread-note.ts';

/** One answer of the model, and what came of it. */
export interface TimelineTurn {
  turn: number;
  attempt: number;
  /** `summary`: belay asked for a summary of the past; the agent did nothing in it. */
  purpose: 'work' | 'summary';
  /** Who wrote what stands for the past, where it was summarized in this turn. */
  summaryBy: 'model' | 'belay' | null;
  /** Index into `runs`. */
  run: number;
  /** `open`: the run was killed in it, or is in it. */
  status: 'completed' | 'failed' | 'open';
  /** The turn that it followed on: the one before, or where a rollback went; 0 before the first. */
  parent: number;
  /** Tree of the workspace after it; null where none was taken. */
  tree: string | null;
  changes: readonly FileChange[];
  usage: Usage | null;
  costUsd: number | null;
  durationMs: number | null;
  requestSha256: string | null;
  /** What the agent said and did, in foreign words. */
  items: { type: Item['type']; status: Item['status']; text: string }[];
}

export interface TimelineRun {
  runId: string;
  startedAt: string;
  resumedFrom: string | null;
  model: string | null;
  outcome: Outcome | null;
  reason: string | null;
  /** Tree at its end, before anything was put back; null when it did not come so far. */
  finalTree: string | null;
}

export type RollbackNote = Extract<ThreadNote, { kind: 'rollback' }>;

/** What a thread's log says of its past: the fold that show, diff, rollback and fork share. */
export interface Timeline {
  runs: readonly TimelineRun[];
  /** Whether the last run that was at the workspace did not come to put it in order. */
  isCutOff: boolean;
  /** By number, in the order of the log. */
  turns: ReadonlyMap<number, TimelineTurn>;
  rollbacks: readonly RollbackNote[];
  /** Trees of work that was put away, or that a question was about: `treesOf` tells the others. */
  stashes: ReadonlySet<string>;
  /** The number of the last turn in the log. */
  lastTurn: number;
  /** The turn that the next one will follow on. */
  position: number;
  /** Lines that are no events or notes; half a line at the end is what a killed run leaves. */
  faults: readonly { file: string; line: number; reason: string }[];
}

export async function readTimeline(thread: Pick<StoredThread, 'readEvents' | 'readNotes'>): Promise<Timeline> {
  const faults: Timeline['faults'][number][] = [];
  const rollbacks: RollbackNote[] = [];
  const stashes = new Set<string>();
  for await (const line of thread.readNotes()) {
    if (line.kind === 'fault') faults.push({ file: 'notes.jsonl', line: line.lineNumber, reason: line.reason });
    else if (line.note.kind === 'rollback') rollbacks.push(line.note);
    else if ('tree' in line.note) stashes.add(line.note.tree);
  }
  const fold = createFold(rollbacks);
  for await (const line of thread.readEvents()) {
    if (line.kind === 'fault') faults.push({ file: 'events.jsonl', line: line.lineNumber, reason: line.message });
    else fold.take(line.event);
  }
  const turns = fold.turns;
  const lastTurn = [...turns.keys()].reduce((last, turn) => Math.max(last, turn), 0);
  const position = parentOf(lastTurn + 1, rollbacks);
  return { runs: fold.runs, isCutOff: fold.ends.isCutOff, turns, rollbacks, stashes, lastTurn, position, faults };
}

/** The tree of the workspace as it was after a turn; null where the log has none, which means that of the start. */
export function treeAfter(timeline: Pick<Timeline, 'turns'>, turn: number): string | null {
  for (let at = timeline.turns.get(turn); at !== undefined; at = timeline.turns.get(at.parent))
    if (at.tree !== null) return at.tree;
  return null;
}

/** Every tree of the timeline. */
export function treesOf({ turns, runs, rollbacks }: Pick<Timeline, 'turns' | 'runs' | 'rollbacks'>): Set<string> {
  const named = [
    ...[...turns.values()].map((turn) => turn.tree),
    ...runs.map((run) => run.finalTree),
    ...rollbacks.flatMap((rollback) => [rollback.tree, rollback.before]),
  ];
  return new Set(named.filter((tree) => tree !== null));
}

/** Every tree that the log names. */
export interface NamedTrees {
  /** Of the timeline: they have to be there. */
  needed: readonly string[];
  /** Of work that was put away: files of earlier versions may lack them. */
  stashes: readonly string[];
}

export const namedTreesOf = (timeline: Timeline): NamedTrees => ({
  needed: [...treesOf(timeline)],
  stashes: [...timeline.stashes],
});

/** The last rollback counts, of those made while the turn before was the last one; it leads back, so that no turn follows on itself. */
function parentOf(turn: number, rollbacks: readonly RollbackNote[]): number {
  return Math.min(rollbacks.findLast((rollback) => rollback.lastTurn === turn - 1)?.toTurn ?? turn - 1, turn - 1);
}

function createFold(rollbacks: readonly RollbackNote[]) {
  const runs: TimelineRun[] = [];
  const turns = new Map<number, TimelineTurn>();

  function closeTurn(event: Extract<Event, { type: 'turn.completed' | 'turn.failed' }>): void {
    const open = turns.get(event.turn);
    if (open === undefined) return;
    const done = event.type === 'turn.completed';
    turns.set(event.turn, {
      ...open,
      status: done ? 'completed' : 'failed',
      tree: done ? event.snapshot : null,
      changes: done ? event.changes : [],
      usage: event.usage,
      costUsd: done ? event.cost_usd : null,
      durationMs: event.duration_ms,
    });
  }

  const ends = createRunEnds();
  return {
    runs,
    turns,
    ends,
    take(event: Event): void {
      ends.take(event);
      switch (event.type) {
        case 'run.started':
          runs.push(runOf(event));
          break;
        case 'turn.started':
          turns.set(event.turn, {
            ...{ purpose: event.purpose ?? 'work', summaryBy: null },
            ...{ turn: event.turn, attempt: event.attempt, run: runs.length - 1, status: 'open' as const },
            ...{ parent: parentOf(event.turn, rollbacks), tree: null, changes: [], usage: null, costUsd: null },
            ...{ durationMs: null, requestSha256: event.request_sha256 ?? null, items: [] },
          });
          break;
        case 'item.completed':
          if (event.phase === 'agent' && event.turn !== null)
            turns.get(event.turn)?.items.push({ ...event.item, text: describeItem(event.item) });
          break;
        case 'turn.completed':
        case 'turn.failed':
          closeTurn(event);
          break;
        case 'context.compacted': {
          const last = [...turns.values()].at(-1);
          if (last !== undefined) turns.set(last.turn, { ...last, summaryBy: event.summary_by ?? last.summaryBy });
          break;
        }
        case 'run.completed': {
          const { outcome, reason, changes } = event.result;
          const run = runs.at(-1);
          if (run !== undefined) runs[runs.length - 1] = { ...run, outcome, reason, finalTree: changes.tree };
          break;
        }
        default:
          break;
      }
    },
  };
}

function runOf(event: Extract<Event, { type: 'run.started' }>): TimelineRun {
  return {
    runId: event.run_id,
    startedAt: event.time,
    resumedFrom: event.resumed_from ?? null,
    model: event.model === null ? null : `${event.model.provider}/${event.model.name}`,
    ...{ outcome: null, reason: null, finalTree: null },
  };
}

/** Of a long text only what a line can show is kept: a thread may hold gigabytes. */
const TEXT_LENGTH = 400;

function describeItem(item: Item): string {
  const tool = 'tool' in item && item.tool !== undefined ? `${item.tool}: ` : '';
  return (tool + wordsOf(item)).slice(0, TEXT_LENGTH);
}

function wordsOf(item: Item): string {
  switch (item.type) {
    case 'agent_message':
    case 'reasoning':
      return item.text;
    case 'command_execution':
      return `${item.command}${item.exit_code === null ? '' : ` (exit ${item.exit_code})`}`;
    case 'file_change':
      return item.error ?? item.changes.map((change) => change.path).join(', ');
    case 'todo_list':
      return item.items.map((entry) => entry.text).join('; ');
    case 'mcp_tool_call':
      return item.server;
    case 'tool_call':
      return item.error ?? item.summary;
    case 'check':
    case 'service':
      return item.name;
    case 'denial':
      return `${item.action} (${item.rule}): ${item.reason}`;
    case 'error':
      return item.message;
  }
}
