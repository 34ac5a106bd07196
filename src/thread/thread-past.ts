import { createHash } from 'node:crypto';
import {
  addUsage,
  type Denial,
  type Event,
  FIRST_PREV,
  NO_USAGE,
  type Outcome,
  readEvents,
  type Usage,
} from '../events/index.ts';
import { createBranch } from './branch.ts';
import type { MessageNote } from './conversation.ts';
import { readNoteFile } from './read-notes.ts';
import { createRunEnds } from './run-ends.ts';
import type { OutputNote } from './stored-output.ts';
import type { ThreadNote } from './thread-note.ts';

export type CallEndNote = Extract<ThreadNote, { kind: 'call_ended' }>;
export type ApprovalNote = Extract<ThreadNote, { kind: 'approval_asked' }>;
export type DecisionNote = Extract<ThreadNote, { kind: 'approval_decided' }>;

/** An answer from which not everything has followed yet. */
export interface PendingAnswer {
  note: MessageNote & { answer: NonNullable<MessageNote['answer']> };
  /** By call: what is on record as ended is never run again. */
  ended: ReadonlyMap<string, CallEndNote>;
  /** Calls that began; one that has not ended was in flight when the run was killed. */
  begun: ReadonlySet<string>;
  approvals: readonly ApprovalNote[];
  /** By call. */
  decisions: ReadonlyMap<string, DecisionNote>;
  /** Outputs of what was in flight, as far as they came. */
  cutOff: readonly OutputNote[];
  /** Whether an earlier run's events tell something of it, and its end. */
  isTold: boolean;
  isClosed: boolean;
}

export interface PastRun {
  runId: string;
  /** null: it was killed. */
  outcome: Outcome | null;
  durationMs: number;
}

/** Where the work is while the workspace is put back. */
export interface StashedWork {
  /** null: nothing was done, the tree is that of the start. */
  tree: string | null;
  by: 'run' | 'rollback' | 'fork';
  /** Whether the workspace was left whole; else a run was killed while it changed it, and it may be half-way. */
  isWhole: boolean;
}

/** What a thread's log says to a run that goes on with it: a fold of its events and notes, and of nothing else. */
export interface ThreadPast {
  runs: readonly PastRun[];
  /** The folder that its first run was in; null where that is not on record. */
  root: string | null;
  /** Notes up to where the thread stands. */
  notes: readonly ThreadNote[];
  pending: PendingAnswer | null;
  /** Number of the last turn that counts. */
  turns: number;
  /** Rounds of verification whose evidence went back to the agent. */
  rounds: number;
  toolCalls: number;
  usage: Usage;
  /** Requests whose answer or failure is on record. */
  requests: number;
  /** null once an answer's price is unknown; without that of `unpriced`. */
  costUsd: number | null;
  /** The part of the usage that came to nothing: no event tells its price. */
  unpriced: Usage;
  denials: readonly Denial[];
  /** Of all runs together. */
  elapsedMs: number;
  /** Limits of the last run that told them. */
  limits: Readonly<Record<string, number>> | null;
  /** Tree after the last turn that has one. */
  tree: string | null;
  stashed: StashedWork | null;
  /** Whether a run or a rollback of the thread has been at the workspace on this machine; false only of an imported one. */
  hasWorkedHere: boolean;
  /** See `RunEnds`. */
  isCutOff: boolean;
  leftTree: string | null;
  hasKept: boolean;
}

export interface PastQuery {
  events: string;
  notes: string;
  /** How many notes came with an imported thread (the first ones, which anybody may have written); null: it was not imported. */
  importedNotes: number | null;
}

/** Reads the log of a thread. Rejects lines that are damaged or out of their chain: a resumed run must not build on them. */
export async function readPast(paths: PastQuery): Promise<ThreadPast | { fault: string }> {
  const events = createEventFold();
  let prev = FIRST_PREV;
  for await (const line of readEvents(paths.events)) {
    if (line.kind === 'fault') return { fault: `events, line ${line.lineNumber}: ${line.message}` };
    const { event } = line;
    if (event.prev !== (event.seq === 0 ? FIRST_PREV : prev))
      return { fault: `events, line ${line.lineNumber} does not follow the one before` };
    prev = createHash('sha256').update(line.line).digest('hex');
    events.take(event);
  }
  const notes: ThreadNote[] = [];
  for await (const line of readNoteFile(paths.notes)) {
    if (line.kind === 'fault') return { fault: `notes, line ${line.lineNumber}: ${line.reason}` };
    notes.push(line.note);
  }
  return foldPast(events, notes, paths.importedNotes);
}

type EventFold = ReturnType<typeof createEventFold>;

/** Only what belay does to the workspace. */
const AT_WORKSPACE: ReadonlySet<ThreadNote['kind']> = new Set([
  'work_stashed',
  'work_restored',
  'work_back',
  'rollback',
]);

function foldPast(events: EventFold, notes: readonly ThreadNote[], importedNotes: number | null): ThreadPast {
  const branch = createBranch();
  let { usage, tree } = events;
  let { costUsd } = events;
  const sums = { turns: events.asideTurn, rounds: 0, toolCalls: 0, requests: events.asideRequests };
  const denials: Denial[] = [];
  let stashed: StashedWork | null = null;
  const foreignNotes = importedNotes ?? 0;
  let hasWorkedHere = importedNotes === null;
  for (const [at, note] of notes.entries()) {
    hasWorkedHere ||= at >= foreignNotes && AT_WORKSPACE.has(note.kind);
    // The word of a person counts where it was given: who writes a thread file could write it too.
    if (note.kind === 'approval_decided' && at < foreignNotes) continue;
    branch.add(note);
    switch (note.kind) {
      case 'message':
        if (note.source === 'verification') sums.rounds++;
        if (note.answer === undefined) break;
        sums.turns = Math.max(sums.turns, note.turn);
        usage = addUsage(usage, note.answer.usage);
        sums.requests += note.answer.usage.requests;
        costUsd = costUsd === null || note.answer.costUsd === null ? null : costUsd + note.answer.costUsd;
        break;
      case 'call_ended':
        if (note.counted) sums.toolCalls++;
        if (note.denial !== null) denials.push(note.denial);
        break;
      case 'work_stashed':
        stashed = { tree: note.tree, by: 'run', isWhole: false };
        break;
      case 'work_restored':
        // Whoever was killed since may have left anything.
        stashed = { tree: note.tree, by: 'run', isWhole: events.runs.at(-1)?.outcome !== null };
        break;
      case 'rollback':
        sums.turns = Math.max(sums.turns, note.lastTurn);
        tree = note.lastTurn >= events.lastTurn ? note.tree : tree;
        stashed = { tree: note.tree, by: 'rollback', isWhole: true };
        break;
      case 'fork':
        stashed = { tree: events.treeAfter(note.turn), by: 'fork', isWhole: true };
        break;
      case 'work_back':
        stashed = null;
        break;
      default:
        break;
    }
  }
  const current = branch.list();
  return {
    ...{ runs: events.runs, notes: current, pending: findPending(current, events), ...sums, usage, costUsd, denials },
    ...{ elapsedMs: events.runs.reduce((sum, run) => sum + run.durationMs, 0), limits: events.limits },
    ...{ tree, stashed, hasWorkedHere, unpriced: events.unpriced, root: events.root },
    ...{ isCutOff: events.ends.isCutOff, leftTree: events.ends.leftTree, hasKept: events.ends.hasKept },
  };
}

/** The last message, where it is an answer: nothing was added that follows from it. */
function findPending(notes: readonly ThreadNote[], events: EventFold): PendingAnswer | null {
  const at = notes.findLastIndex((note) => note.kind === 'message');
  const note = notes[at];
  if (note?.kind !== 'message' || note.answer === undefined) return null;
  const after = notes.slice(at + 1);
  const ended = after.flatMap((one) => (one.kind === 'call_ended' ? [one] : []));
  const decided = after.flatMap((one) => (one.kind === 'approval_decided' ? [one] : []));
  return {
    note: { ...note, answer: note.answer },
    ended: new Map(ended.map((one) => [one.end.callId, one])),
    begun: events.begun,
    approvals: after.flatMap((one) => (one.kind === 'approval_asked' ? [one] : [])),
    decisions: new Map(decided.map((one) => [one.callId, one])),
    cutOff: after.flatMap((one) => (one.kind === 'output' && one.isCutOff === true ? [one] : [])),
    isTold: events.toldTurn === note.turn,
    isClosed: events.closedTurn === note.turn,
  };
}

function createEventFold() {
  const runs: { runId: string; outcome: Outcome | null; durationMs: number }[] = [];
  let startedMs = 0;
  /** Calls of the last turn only: ids are unique in the thread, but the thread may be long. */
  let begun = new Set<string>();
  const trees = new Map<number, string>();
  let isAside = false;
  const fold = {
    runs,
    ends: createRunEnds(),
    usage: NO_USAGE,
    /** Of turns that are no message: those that failed, and summaries. */
    asideTurn: 0,
    asideRequests: 0,
    costUsd: 0 as number | null,
    unpriced: NO_USAGE,
    toldTurn: 0,
    closedTurn: 0,
    lastTurn: 0,
    tree: null as string | null,
    treeAfter(turn: number): string | null {
      const last = [...trees.keys()].reduce((found, one) => (one <= turn && one > found ? one : found), 0);
      return trees.get(last) ?? null;
    },
    root: null as string | null,
    limits: null as Readonly<Record<string, number>> | null,
    get begun(): ReadonlySet<string> {
      return begun;
    },
    take(event: Event): void {
      fold.ends.take(event);
      const atMs = Date.parse(event.time);
      if (event.type === 'run.started') {
        startedMs = atMs;
        runs.push({ runId: event.run_id, outcome: null, durationMs: 0 });
        fold.limits = event.limits ?? fold.limits;
        fold.root ??= event.workspace?.root ?? null;
      }
      const run = runs.at(-1);
      if (run !== undefined) run.durationMs = Math.max(run.durationMs, atMs - startedMs);
      switch (event.type) {
        case 'turn.started':
          fold.lastTurn = Math.max(fold.lastTurn, event.turn);
          isAside = event.purpose !== undefined;
          if (fold.toldTurn !== event.turn && fold.closedTurn !== event.turn) begun = new Set();
          break;
        case 'item.started':
        case 'item.completed':
          if (event.phase !== 'agent' || event.turn === null) break;
          fold.toldTurn = event.turn;
          if (event.type === 'item.started' && 'call_id' in event.item && event.item.call_id !== undefined)
            begun.add(event.item.call_id);
          break;
        case 'turn.completed':
          fold.closedTurn = event.turn;
          if (isAside) {
            fold.usage = addUsage(fold.usage, event.usage);
            fold.costUsd = fold.costUsd === null || event.cost_usd === null ? null : fold.costUsd + event.cost_usd;
            fold.asideTurn = event.turn;
            fold.asideRequests += event.usage.requests;
          }
          fold.tree = event.snapshot ?? fold.tree;
          if (event.snapshot !== null) trees.set(event.turn, event.snapshot);
          break;
        case 'turn.failed':
          fold.usage = addUsage(fold.usage, event.usage);
          fold.unpriced = addUsage(fold.unpriced, event.usage);
          // A request that was cut off by a signal is asked again, under its number.
          if (event.error.code === 'interrupted') break;
          fold.asideTurn = event.turn;
          fold.asideRequests += event.usage.requests;
          break;
        case 'run.completed':
          if (run !== undefined) {
            run.outcome = event.result.outcome;
            run.durationMs = event.result.duration_ms;
          }
          break;
        default:
          break;
      }
    },
  };
  return fold;
}
