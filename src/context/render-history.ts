import { oneLine } from '../events/index.ts';
import type { Message, ToolResultPart } from '../model/index.ts';
import { boundText } from './head-tail.ts';

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
      return message.parts.flatMap((part) => {
        if (part.type === 'tool_call') return [`## call of ${part.name}\n${bound(part.input)}`];
        return part.type === 'text' && part.text.trim() !== '' ? [`## agent\n${part.text}`] : [];
      });
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
      return message.parts.flatMap((part) => {
        if (part.type === 'tool_call')
          return [
            `- ${oneLine(part.name, 64)} ${oneLine(part.input, INPUT_CHARACTERS)}${renderOutcome(results.get(part.id))}`,
          ];
        return part.type === 'text' && part.text.trim() !== ''
          ? [`- said: ${oneLine(part.text, TEXT_CHARACTERS)}`]
          : [];
      });
    })
    .join('\n');
}

function renderOutcome(result: ToolResultPart | undefined): string {
  if (result === undefined) return '';
  return ` → ${result.isError ? 'error: ' : ''}${oneLine(result.text.trimEnd().split('\n').at(-1) ?? '', OUTCOME_CHARACTERS)}`;
}
