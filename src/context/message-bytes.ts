import type { Message } from '../model/index.ts';

/** What a part costs beside its text: names, ids, brackets. */
const WRAPPING_BYTES = 40;

/** Bytes of a message on the wire, near enough to estimate tokens; state that goes back to the provider counts. */
export function bytesOfMessage(message: Message): number {
  switch (message.role) {
    case 'user':
      return Buffer.byteLength(message.text) + WRAPPING_BYTES;
    case 'tool':
      return message.results.reduce((sum, result) => sum + Buffer.byteLength(result.text) + WRAPPING_BYTES, 0);
    case 'assistant':
      return message.parts.reduce((sum, part) => {
        const text = part.type === 'tool_call' ? part.input : part.text;
        const state = part.state === undefined ? 0 : JSON.stringify(part.state).length;
        return sum + Buffer.byteLength(text) + state + WRAPPING_BYTES;
      }, 0);
  }
}
