import { type Denial, NO_USAGE, type Usage } from '../events/index.ts';
import type { AnswerPart, Message, ToolCallPart } from '../model/index.ts';
import type { MessageNote, PendingAnswer, ThreadPast } from '../thread/index.ts';
import type { BudgetStart } from './budget.ts';
import { createRepeatCounter, type RepeatCounter } from './repeats.ts';

/** Where a loop begins: afresh, or where an earlier run of the thread stopped. */
export interface LoopStart {
  budget: BudgetStart;
  repeats: RepeatCounter;
  denials: Denial[];
  refusedOutputs: number;
  /** Empty answers in a row. */
  nudges: number;
  pending: PendingAnswer | null;
  /** Usage of each answer so far. */
  answers: readonly Usage[];
  /** Whether the agent was told the first and never the second after it. */
  wasTold(text: string, takenBack: string): boolean;
}

/** `costOf`: of what failed, whose price no event tells. */
export function startLoop(past: ThreadPast | null, costOf: (usage: Usage) => number | null): LoopStart {
  if (past === null) {
    return {
      budget: { turns: 0, toolCalls: 0, usage: NO_USAGE, costUsd: 0 },
      ...{ repeats: createRepeatCounter(), denials: [], refusedOutputs: 0, nudges: 0, pending: null, answers: [] },
      wasTold: () => false,
    };
  }
  const { turns, toolCalls, usage, denials, pending } = past;
  const said = past.notes.flatMap((note) => (note.kind === 'message' ? [note] : []));
  const before = pending === null ? said : said.slice(0, -1);
  const isFree = past.unpriced.input_tokens + past.unpriced.output_tokens === 0;
  const unpriced = isFree ? 0 : costOf(past.unpriced);
  const costUsd = past.costUsd === null || unpriced === null ? null : past.costUsd + unpriced;
  const texts = said.map(({ message }) => (message.role === 'user' ? message.text : ''));
  let isTaken = false;
  return {
    budget: { turns, toolCalls, usage, costUsd },
    repeats: repeatsOf(before.map(({ message }) => message)),
    denials: [...denials],
    refusedOutputs: countRefused(past, before),
    nudges: countEmpty(before),
    pending,
    answers: said.flatMap(({ answer }) => (answer === undefined ? [] : [answer.usage])),
    wasTold(text, takenBack) {
      const was = !isTaken && texts.includes(text) && texts.lastIndexOf(text) > texts.lastIndexOf(takenBack);
      isTaken = true;
      return was;
    },
  };
}

export function callsOf(parts: readonly AnswerPart[]): ToolCallPart[] {
  return parts.filter((part) => part.type === 'tool_call');
}

export function textOf(parts: readonly AnswerPart[]): string {
  return parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}

const partsOf = (message: Message) => (message.role === 'assistant' ? message.parts : []);

/** Calls of the past count as if they were made now. */
function repeatsOf(messages: readonly Message[]): RepeatCounter {
  const repeats = createRepeatCounter();
  let calls = new Map<string, ToolCallPart>();
  for (const message of messages) {
    if (message.role === 'assistant') calls = new Map(callsOf(message.parts).map((call) => [call.id, call]));
    if (message.role !== 'tool') continue;
    for (const { callId, text } of message.results) {
      const call = calls.get(callId);
      if (call !== undefined && call.name !== 'finish')
        repeats.count({ name: call.name, input: call.input, result: withoutHint(text) });
    }
  }
  return repeats;
}

/** What the model is told before the limit of repeats; it is no part of the call's result. */
export const hintOf = (row: number) =>
  `\n[the same call gave the same result ${row} times in a row: do something else]`;
const HINT = /\n\[the same call gave the same result \d+ times in a row: do something else\]$/;
const withoutHint = (text: string) => text.replace(HINT, '');

/** An answer is `empty` when it has neither calls nor text and was not cut. */
function isEmpty({ message, answer }: MessageNote): boolean {
  return (
    answer !== undefined &&
    answer.finish !== 'length' &&
    callsOf(partsOf(message)).length === 0 &&
    textOf(partsOf(message)) === ''
  );
}

function countEmpty(said: readonly MessageNote[]): number {
  let row = 0;
  for (const note of said) {
    if (isEmpty(note)) row++;
    else if (note.source === 'verification' || callsOf(partsOf(note.message)).length > 0) row = 0;
  }
  return row;
}

/** A refused `finish` has an end on record; a refused text is an answer that a nudge follows. */
function countRefused(past: ThreadPast, said: readonly MessageNote[]): number {
  const calls = past.notes.filter((note) => note.kind === 'call_ended' && note.end.name === 'finish').length;
  const texts = said.filter((note, i) => {
    const isText =
      note.answer?.finish !== 'length' &&
      callsOf(partsOf(note.message)).length === 0 &&
      textOf(partsOf(note.message)) !== '';
    return isText && said[i + 1]?.source === 'nudge';
  });
  return calls + texts.length;
}
