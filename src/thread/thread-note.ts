import * as z from 'zod';
import { Denial, Usage } from '../events/index.ts';
import { OUTPUT_ID } from './output-id.ts';

const state = { state: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional() };
const turn = z.int().min(0);
/** Of a snapshot: a full object id, so that none is ever an option of git. */
const tree = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

const AnswerPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), ...state }),
  z.object({ type: z.literal('reasoning'), text: z.string(), ...state }),
  z.object({ type: z.literal('tool_call'), id: z.string(), name: z.string(), input: z.string(), ...state }),
]);

const CallEnd = z.object({
  callId: z.string(),
  name: z.string(),
  text: z.string(),
  isError: z.boolean(),
  outputId: z.string().exactOptional(),
});

const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), text: z.string() }),
  z.object({ role: z.literal('assistant'), parts: z.array(AnswerPart).readonly() }),
  z.object({ role: z.literal('tool'), results: z.array(CallEnd).readonly() }),
]);

/** Characters of a message that came from one source. */
export const MessagePiece = z.object({
  source: z.string(),
  trusted: z.boolean(),
  start: z.int().min(0),
  length: z.int().min(0),
});
export type MessagePiece = z.infer<typeof MessagePiece>;

/** What an answer was beside its parts. */
const AnswerFacts = z.object({
  attempt: z.int().min(1),
  finish: z.enum(['stop', 'tool_calls', 'length', 'refusal', 'content_filter', 'other']),
  usage: Usage,
  /** null when its price is unknown. */
  costUsd: z.number().min(0).nullable(),
});

/**
 * A change of the context, with all that is needed to make it again: applied to the messages so far it gives those that the next
 * request carries. It never takes a result from its call.
 */
export const Compaction = z.object({
  kind: z.enum(['elide', 'summarize']),
  /** Results whose text is replaced, by the id of their call. */
  results: z.array(z.object({ callId: z.string(), text: z.string() })).readonly(),
  /** The user message that stands for everything but the first message and the last `keptMessages`; null when elided. */
  standIn: z
    .object({
      text: z.string(),
      /** The part of the text that tells what was done: the next one takes it over. */
      summary: z.string(),
      keptMessages: z.int().min(0),
    })
    .nullable(),
  /** Tokens of the model's window as known from here on; null when unknown. */
  windowTokens: z.int().min(0).nullable(),
});
export type Compaction = z.infer<typeof Compaction>;

/**
 * What the log keeps beside the public events: what a resumed run needs to know. The conversation is a fold of `message` notes; the rest
 * says how far the work is. `turn`: that of the last answer before it.
 */
export const ThreadNote = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    turn,
    source: z.string(),
    trusted: z.boolean(),
    message: Message,
    /** Of a user message with several sources: what each is, and where in its text. */
    pieces: z.array(MessagePiece).readonly().exactOptional(),
    /** Of an answer: the provider's count of the request that it answers. */
    requestTokens: z.int().min(0).exactOptional(),
    /** Of the model's answers: written before anything follows from one. */
    answer: AnswerFacts.exactOptional(),
  }),
  /** What every request of a run begins with, beside the messages: belay's own words, and what tools say of themselves. */
  z.object({ kind: z.literal('prefix'), system: z.string(), tools: z.array(z.string()).readonly() }),
  z.object({ kind: z.literal('compaction'), turn, compaction: Compaction }),
  /** One call has ended; written before its `item.completed`. It is never run again. */
  z.object({
    kind: z.literal('call_ended'),
    turn,
    end: CallEnd,
    denial: Denial.nullable(),
    mayHaveChanged: z.boolean(),
    /** Whether it counts for `limits.tool_calls`. */
    counted: z.boolean(),
    /** It was in flight when the run was killed: what follows it in its answer is not made either. */
    isCutOff: z.literal(true).exactOptional(),
  }),
  /** An output is whole on disk, under the digest of its bytes. Written before anything names it. */
  z.object({
    kind: z.literal('output'),
    id: z.string().regex(OUTPUT_ID),
    totalBytes: z.int().min(0),
    /** Less than `totalBytes` when there was no more room. */
    storedBytes: z.int().min(0),
    /** Of all of it, hex. */
    sha256: z.string(),
    /** Of what is stored, hex: its name. null: nothing is. */
    blob: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    /** Its command was in flight when the run was killed: this is what it had printed. */
    isCutOff: z.literal(true).exactOptional(),
  }),
  /** A person has to decide on a call; `tree` is the workspace that the call was meant for. */
  z.object({
    kind: z.literal('approval_asked'),
    turn,
    approvalId: z.string(),
    callId: z.string(),
    action: z.string(),
    rule: z.string(),
    tree,
  }),
  z.object({
    kind: z.literal('approval_decided'),
    approvalId: z.string(),
    callId: z.string(),
    decision: z.enum(['approved', 'denied']),
  }),
  /** The workspace is about to be put back; the work is in this tree until `work_back` (contract: resume brings it back first). */
  z.object({ kind: z.literal('work_stashed'), tree }),
  /** The workspace is put back whole: until here it may be half-way. */
  z.object({ kind: z.literal('work_restored'), tree }),
  z.object({ kind: z.literal('work_back'), tree }),
  /** The workspace and the thread went to another place of the timeline; nothing of the log is gone. */
  z
    .object({
      kind: z.literal('rollback'),
      /** Where the thread stands from here on; 0: before the first turn. */
      toTurn: z.int().min(0),
      /** Where it stood before. */
      fromTurn: z.int().min(0),
      /** The last turn of the log so far: the next one follows on `toTurn` instead. */
      lastTurn: z.int().min(0),
      /** Tree that the workspace was put to, and the one it had. */
      tree,
      before: tree,
    })
    .refine(({ toTurn, lastTurn }) => toTurn <= lastTurn),
  /** Everything above was taken over from another thread. */
  z.object({ kind: z.literal('fork'), fromThread: z.string(), turn: z.int().min(0) }),
]);
export type ThreadNote = z.infer<typeof ThreadNote>;

/** One line of `notes.jsonl`: private to belay, with a chain of its own as the events have one. */
export const NoteRecord = z.object({
  v: z.literal(1),
  seq: z.int().min(0),
  time: z.string(),
  /** Hex sha-256 of the previous line without its newline; 64 zeros first. */
  prev: z.string(),
  note: ThreadNote,
});
export type NoteRecord = z.infer<typeof NoteRecord>;
