import type { Message } from '../model/index.ts';
import type { Compaction } from '../thread/index.ts';

/** The messages after a compaction. Pure: the same record gives the same messages, in this run and in a resumed one. */
export function applyCompaction(messages: readonly Message[], compaction: Compaction): Message[] {
  const { results, standIn } = compaction;
  const texts = new Map(results.map(({ callId, text }) => [callId, text]));
  const kept = standIn === null ? messages : messages.slice(Math.max(1, messages.length - standIn.keptMessages));
  // What is not changed stays the same object: its size and digest are known.
  const replaced = texts.size === 0 ? [...kept] : kept.map((message) => replaceTexts(message, texts));
  const first = messages[0];
  if (standIn === null || first === undefined) return replaced;
  return [first, { role: 'user', text: standIn.text }, ...replaced];
}

function replaceTexts(message: Message, texts: ReadonlyMap<string, string>): Message {
  if (message.role !== 'tool' || !message.results.some(({ callId }) => texts.has(callId))) return message;
  return {
    role: 'tool',
    results: message.results.map((result) => ({ ...result, text: texts.get(result.callId) ?? result.text })),
  };
}
