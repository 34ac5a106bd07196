import type { Colors } from './colors.ts';
import type { EventSink } from './event.ts';
import { renderEvent } from './render-event.ts';

/** Prints what a person wants to see of a run (`--format text`). */
export function createTextSink(options: {
  write(text: string): void | Promise<void>;
  flush?(): Promise<void>;
  colors: Colors;
}): EventSink {
  return {
    async write(_line, event) {
      const text = renderEvent(event, options.colors);
      if (text !== null) await options.write(`${text}\n`);
    },
    async close() {
      await options.flush?.();
    },
  };
}
