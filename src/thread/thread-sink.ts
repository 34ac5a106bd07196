import type { EventSink } from '../events/index.ts';
import type { Thread } from './thread.ts';

/** Puts every event into the thread. Closing the thread is its owner's business: artifacts follow the last event. */
export function createThreadSink(thread: Pick<Thread, 'appendEvent'>): EventSink {
  return { write: (line, event) => thread.appendEvent(line, event), async close() {} };
}
