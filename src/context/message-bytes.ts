import type { Message } from '../model/index.ts';
import { renderInput } from './render-input.ts';

/** What a call or a result costs beside its text: names, ids, brackets. */
const WRAPPING_BYTES = 40;

/**
 * Bytes of a message, near enough to estimate tokens. Only what a recording keeps counts, so that a replay compacts where the run
 * did: the state of a provider is in its token counts, from which the estimate learns.
 */
export function bytesOfMessage(message: Message): number {
  switch (message.role) {
    case 'user':
      return Buffer.byteLength(message.text) + WRAPPING_BYTES;
    case 'tool':
      return message.results.reduce((sum, result) => sum + Buffer.byteLength(result.text) + WRAPPING_BYTES, 0);
    case 'assistant':
      return message.parts.reduce(
        (sum, part) =>
          sum +
          (part.type === 'tool_call'
            ? Buffer.byteLength(renderInput(part.input)) + WRAPPING_BYTES
            : Buffer.byteLength(part.text)),
        WRAPPING_BYTES,
      );
  }
}
