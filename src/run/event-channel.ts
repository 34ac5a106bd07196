import type { Event, EventSink } from '../events/index.ts';

/** A sink whose events are read by `for await`; the writer waits for the reader (back-pressure). */
export interface EventChannel {
  sink: EventSink;
  events: AsyncIterableIterator<Event>;
}

export function createEventChannel(): EventChannel {
  let waitingReader: ((result: IteratorResult<Event>) => void) | null = null;
  let offered: { event: Event; taken(): void } | null = null;
  let closed = false;
  const done: IteratorResult<Event> = { done: true, value: undefined };

  const events: AsyncIterableIterator<Event> = {
    [Symbol.asyncIterator]: () => events,
    async next() {
      if (offered !== null) {
        const { event, taken } = offered;
        offered = null;
        taken();
        return { done: false, value: event };
      }
      if (closed) return done;
      return new Promise((resolve) => {
        waitingReader = resolve;
      });
    },
    /** A reader that leaves early lets the run go on without it. */
    async return() {
      closed = true;
      offered?.taken();
      offered = null;
      return done;
    },
  };
  return {
    events,
    sink: {
      write(_line, event) {
        if (closed) return Promise.resolve();
        if (waitingReader !== null) {
          const resolve = waitingReader;
          waitingReader = null;
          resolve({ done: false, value: event });
          return Promise.resolve();
        }
        return new Promise((resolve) => {
          offered = { event, taken: resolve };
        });
      },
      async close() {
        closed = true;
        waitingReader?.(done);
        waitingReader = null;
      },
    },
  };
}
