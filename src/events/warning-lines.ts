import type { EventSink, EventType } from './event.ts';
import { renderEvent } from './render-event.ts';

const WARNINGS: ReadonlySet<EventType> = new Set<EventType>(['error', 'limit.warned', 'model.retried', 'turn.failed']);

/** For people who do not see the events: a line for each that tells of something wrong that did not end the run. */
export function createWarningLines(options: { write(text: string): void | Promise<void> }): EventSink {
  return {
    async write(_line, event) {
      const text = WARNINGS.has(event.type) ? renderEvent(event) : null;
      if (text !== null) await options.write(`belay: ${text}\n`);
    },
    async close() {},
  };
}
