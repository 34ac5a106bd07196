import type { Colors } from './colors.ts';
import type { Event, EventSink } from './event.ts';
import { renderEvent } from './render-event.ts';

/** Prints what a person wants to see of a run (`--format text`). */
export function createTextSink(options: {
  write(text: string): void | Promise<void>;
  flush?(): Promise<void>;
  colors: Colors;
}): EventSink {
  const shorten = createShortener();
  return {
    async write(_line, event) {
      const text = renderEvent(shorten(event), options.colors);
      if (text !== null) await options.write(`${text}\n`);
    },
    async close() {
      await options.flush?.();
    },
  };
}

/** A check that failed is run again (`verify.flaky_retries`): the end of the same output a second time tells nothing new. */
function createShortener(): (event: Event) => Event {
  let failed: string | null = null;
  return (event) => {
    if (event.type === 'verification.started') failed = null;
    if (event.type !== 'item.completed') return event;
    const { item, phase } = event;
    if (item.type !== 'check') return event;
    const check = `${phase} ${item.name}`;
    const isAgain = failed === check;
    failed = item.passed === false ? check : null;
    return isAgain ? { ...event, item: { ...item, name: `${item.name}, once more`, aggregated_output: '' } } : event;
  };
}
