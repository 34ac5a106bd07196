import * as z from 'zod';
import { Usage } from '../events/index.ts';
import type { ThreadNote } from './thread.ts';

const state = { state: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional() };

const AnswerPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), ...state }),
  z.object({ type: z.literal('reasoning'), text: z.string(), ...state }),
  z.object({ type: z.literal('tool_call'), id: z.string(), name: z.string(), input: z.string(), ...state }),
]);

const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), text: z.string() }),
  z.object({ role: z.literal('assistant'), parts: z.array(AnswerPart) }),
  z.object({
    role: z.literal('tool'),
    results: z.array(z.object({ callId: z.string(), name: z.string(), text: z.string(), isError: z.boolean() })),
  }),
]);

const Answer = z.object({
  parts: z.array(AnswerPart),
  finish: z.enum(['stop', 'tool_calls', 'length', 'refusal', 'content_filter', 'other']),
  usage: Usage,
});

const Note: z.ZodType<ThreadNote> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    turn: z.int().min(0),
    source: z.string(),
    trusted: z.boolean(),
    message: Message,
  }),
  z.object({ kind: z.literal('answer'), turn: z.int().min(0), answer: Answer }),
]);

/** One line of `notes.jsonl`: private to belay, with a chain of its own as the events have one. */
export const NoteRecord = z.object({
  v: z.literal(1),
  seq: z.int().min(0),
  time: z.string(),
  /** Hex sha-256 of the previous line without its newline; 64 zeros first. */
  prev: z.string(),
  note: Note,
});
export type NoteRecord = z.infer<typeof NoteRecord>;
