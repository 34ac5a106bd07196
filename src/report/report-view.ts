import type { CheckResult, Event, Item, Phase, Result, Usage } from '../events/index.ts';

/** A text of an item, bounded: head and tail, and how many characters are missing between them. */
export interface Block {
  label: string;
  kind: 'prose' | 'output' | 'diff';
  text: string;
  cutCharacters: number;
}

/** An item of the log as a reader sees it. */
export interface ItemView {
  kind: 'item';
  type: Item['type'];
  status: Item['status'];
  durationMs: number | null;
  /** One line, as it came: foreign text. */
  title: string;
  /** Why it did not go well, in words. */
  note: string | null;
  blocks: Block[];
}

/** Something that happened between items: a retry, a compaction, a limit. */
export interface NoteView {
  kind: 'note';
  tone: 'info' | 'warning' | 'bad';
  text: string;
}

export type Entry = ItemView | NoteView;

export interface TurnEnd {
  usage: Usage;
  costUsd: number | null;
  durationMs: number;
  changedPaths: number;
  error: string | null;
}

/** A stretch of the timeline, in the order of the log. */
export type Section = {
  entries: Entry[];
  /** Entries left out of the middle. */
  omittedEntries: number;
} & (
  | { kind: 'stage'; phase: Phase }
  | { kind: 'turn'; turn: number; attempt: number; end: TurnEnd | null }
  | { kind: 'verification'; attempt: number; cleanRoom: boolean; passed: boolean | null }
);

/** One turn of the charts. Several turns share a point where there are very many. */
export interface ChartPoint {
  turn: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  /** Sent and written, over the run so far. */
  totalTokens: number;
  /** Over the run so far; null where the price is unknown. */
  totalCostUsd: number | null;
}

export interface LogFacts {
  /** What the user called it. */
  source: string;
  events: number;
  /** What `belay audit` finds; empty when the log is whole. */
  faults: readonly { line: number; reason: string }[];
  /** Hex sha-256 of the last line: by the chain, it stands for every line. null without one. */
  chainHead: string | null;
}

/** A run as its log tells it: what every renderer reads. Everything in it is bounded, however long the log is. */
export interface ReportView {
  log: LogFacts;
  start: Extract<Event, { type: 'run.started' }> | null;
  /** null: the log ends before its verdict. */
  result: Result | null;
  /** The result's; without one, what the log shows of the checks so far. */
  checks: CheckResult[];
  sections: Section[];
  /** Sections left out between `sections[omittedAt - 1]` and `sections[omittedAt]`. */
  omittedSections: number;
  omittedAt: number;
  points: ChartPoint[];
  denials: readonly { action: string; rule: string; reason: string }[];
  /** The change as a unified diff, where it is at hand and its digest is the result's. */
  patch: Block | null;
}
