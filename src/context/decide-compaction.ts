import type { Message, ToolResultPart } from '../model/index.ts';

/** The context as a decision on it needs to see it. */
export interface ContextView {
  messages: readonly Message[];
  bytesOf(message: Message): number;
  /** Of everything. */
  bytes: number;
  tokensOf(bytes: number): number;
  /** System prompt and tools. */
  fixedBytes: number;
  /** null when unknown: nothing is done then. */
  windowTokens: number | null;
  /** Shares of the window. */
  softenAt: number;
  compactAt: number;
}

/** What has to become shorter. The texts are still to be made: what is left out is kept elsewhere first. */
export interface CompactionPlan {
  kind: 'elide' | 'summarize';
  /** Results that become one line. */
  elided: readonly ToolResultPart[];
  /** Results of the newest turns that do not fit whole. */
  cut: readonly { result: ToolResultPart; maxBytes: number }[];
  /** The newest messages, which stay as they are; null when all stay. */
  keptMessages: number | null;
  /** Room for the message that stands for the others. */
  standInBytes: number;
  windowTokens: number;
}

/** Share of the window for the newest turns, which stay as they are. */
const KEPT_SHARE = 0.25;
/** What a compaction has to gain. It costs the provider's cache, so it has to be worth it: the next one is then some turns away. */
const WORTHWHILE_SHARE = 0.1;
const STAND_IN_SHARE = 0.1;
const MAX_STAND_IN_BYTES = 24_576;
/** The one line for an elided result takes about this. */
const LINE_BYTES = 240;
const MIN_ELIDED_BYTES = 600;
const MIN_CUT_BYTES = 1024;

/** What to do before the next request; null: nothing. Pure. */
export function decideCompaction(view: ContextView): CompactionPlan | null {
  const { messages, windowTokens: window, tokensOf, bytesOf, fixedBytes, bytes } = view;
  if (window === null) return null;
  const used = tokensOf(bytes);
  if (used < view.softenAt * window) return null;
  // Tokens per byte are the same all over, so shares of the window can be taken in bytes.
  const windowBytes = Math.floor((window * bytes) / Math.max(1, used));
  const plan = { windowTokens: window, cut: [], standInBytes: standInBytesOf(windowBytes) };

  const tailFrom = findTail(view, KEPT_SHARE * windowBytes);
  const elided = messages
    .slice(0, tailFrom)
    .flatMap((message) => (message.role === 'tool' ? message.results.filter(canBeElided) : []));
  const saved = elided.reduce((sum, { text }) => sum + Buffer.byteLength(text) - LINE_BYTES, 0);
  const isWorthwhile = (gain: number) => gain >= WORTHWHILE_SHARE * windowBytes;
  const isFull = bytes >= view.compactAt * windowBytes;
  if (isWorthwhile(saved) && (!isFull || bytes - saved <= view.softenAt * windowBytes)) {
    return { ...plan, kind: 'elide', elided, keptMessages: null };
  }
  if (!isFull) return null;

  const dropped = messages.slice(1, tailFrom).reduce((sum, message) => sum + bytesOf(message), 0);
  const drops = isWorthwhile(dropped - plan.standInBytes);
  const kept = messages.slice(tailFrom);
  const first = messages[0] === undefined ? 0 : bytesOf(messages[0]);
  const room = view.compactAt * windowBytes - fixedBytes - first - (drops ? plan.standInBytes : dropped);
  const cut = decideCuts(kept, room, bytesOf);
  if (drops) return { ...plan, kind: 'summarize', elided: [], cut, keptMessages: kept.length };
  return cut.length > 0 ? { ...plan, kind: 'elide', elided: [], cut, keptMessages: null } : null;
}

function standInBytesOf(windowBytes: number): number {
  return Math.min(MAX_STAND_IN_BYTES, Math.floor(STAND_IN_SHARE * windowBytes));
}

/**
 * Where the newest turns begin: whole turns as far as they fit, and at least the last answer with all that follows it. Never
 * between a call and its result, never the first message.
 */
function findTail({ messages, bytesOf }: ContextView, maxBytes: number): number {
  let from = messages.length;
  let bytes = 0;
  let holdsAnswer = false;
  for (let i = messages.length - 1; i >= 1; i -= 1) {
    const message = messages[i];
    if (message === undefined) break;
    bytes += bytesOf(message);
    if (holdsAnswer && bytes > maxBytes) break;
    if (message.role === 'tool') continue;
    from = i;
    holdsAnswer ||= message.role === 'assistant';
  }
  return from;
}

/** What belay said to a `finish` stays: it is short, or the evidence that is worked on. */
function canBeElided({ name, text }: ToolResultPart): boolean {
  return name !== 'finish' && Buffer.byteLength(text) >= MIN_ELIDED_BYTES;
}

/** The cap that makes the newest results fit into `room`: the longest give, the others stay whole. */
function decideCuts(
  kept: readonly Message[],
  room: number,
  bytesOf: (message: Message) => number,
): { result: ToolResultPart; maxBytes: number }[] {
  const results = kept.flatMap((message) => (message.role === 'tool' ? message.results : []));
  const sizes = results.map(({ text }) => Buffer.byteLength(text)).sort((a, b) => a - b);
  const total = kept.reduce((sum, message) => sum + bytesOf(message), 0);
  if (total <= room) return [];
  let left = room - (total - sizes.reduce((sum, size) => sum + size, 0));
  let cap = 0;
  for (const [i, size] of sizes.entries()) {
    cap = Math.floor(left / (sizes.length - i));
    if (size > cap) break;
    left -= size;
  }
  const maxBytes = Math.max(MIN_CUT_BYTES, cap - LINE_BYTES);
  return results.flatMap((result) =>
    // Again for a little would be again each turn.
    Buffer.byteLength(result.text) > maxBytes + 2 * LINE_BYTES ? [{ result, maxBytes }] : [],
  );
}
