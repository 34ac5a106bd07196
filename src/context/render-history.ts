import { oneLine } from '../events/index.ts';
import type { AnswerPart, Message, ToolCallPart, ToolResultPart } from '../model/index.ts';
import { boundText } from './head-tail.ts';
import { renderInput } from './render-input.ts';

const INPUT_CHARACTERS = 160;
const OUTCOME_CHARACTERS = 100;
const TEXT_CHARACTERS = 300;

/** Messages as text for a reader; each result at most `resultBytes` long. */
export function renderHistory(messages: readonly Message[], resultBytes: number): string {
  const bound = (text: string) => boundText(text, resultBytes, ({ omitted_bytes }) => `\n[… ${omitted_bytes} bytes]\n`);
  return messages
    .flatMap((message): string[] => {
      if (message.role === 'user') return [`## belay\n${message.text}`];
      if (message.role === 'tool')
        return message.results.map(
          ({ name, text, isError }) => `## result of ${name}${isError ? ' (error)' : ''}\n${bound(text)}`,
        );
      const said = textOf(message.parts);
      const calls = callsOf(message.parts).map(({ name, input }) => `## call of ${name}\n${bound(renderInput(input))}`);
      return [...(said === '' ? [] : [`## agent\n${said}`]), ...calls];
    })
    .join('\n\n');
}

/** The same without a model: a line for each call with its outcome, and what the agent said. */
export function renderDigest(messages: readonly Message[]): string {
  const results = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? message.results.map((result) => [result.callId, result] as const) : [],
    ),
  );
  return messages
    .flatMap((message): string[] => {
      if (message.role !== 'assistant') return [];
      const said = textOf(message.parts);
      const calls = callsOf(message.parts).map(
        ({ id, name, input }) =>
          `- ${oneLine(name, 64)} ${oneLine(renderInput(input), INPUT_CHARACTERS)}${renderOutcome(results.get(id))}`,
      );
      return [...(said === '' ? [] : [`- said: ${oneLine(said, TEXT_CHARACTERS)}`]), ...calls];
    })
    .join('\n');
}

/** In the order of a recording: what was said, then the calls. */
function textOf(parts: readonly AnswerPart[]): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim();
}

function callsOf(parts: readonly AnswerPart[]): ToolCallPart[] {
  return parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
}

function renderOutcome(result: ToolResultPart | undefined): string {
  if (result === undefined) return '';
  return ` → ${result.isError ? 'error: ' : ''}${oneLine(result.text.trimEnd().split('\n').at(-1) ?? '', OUTCOME_CHARACTERS)}`;
}
