import type { Clock } from './clock.ts';
import { cutToWidth } from './display-width.ts';
import type { EventSink } from './event.ts';
import { createProgress } from './progress.ts';

type Write = (text: string) => void | Promise<void>;

/** Back to the first column and clear the line. */
const CLEAR = '\r\x1b[2K';
const TICK_MS = 1000;

/** A line at the bottom of a terminal that says where the run is. */
export interface StatusLine extends EventSink {
  /** Prints something else on the same terminal: the line is cleared before and drawn again after. */
  around(print: Write, text: string): Promise<void>;
}

/** `write` goes to stderr, a terminal of `columns()` columns. The line is gone after `close`, and nothing else was changed. */
export function createStatusLine(options: { write: Write; columns(): number; clock: Clock }): StatusLine {
  const progress = createProgress(options.clock);
  let isShown = false;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();

  async function draw(): Promise<void> {
    if (isClosed) return;
    // One column stays free: some terminals go to the next line when the last one is filled.
    await options.write(CLEAR + cutToWidth(progress.render(), options.columns() - 1));
    isShown = true;
  }
  async function clear(): Promise<void> {
    if (isShown) await options.write(CLEAR);
    isShown = false;
  }
  const enqueue = (step: () => Promise<void>) => {
    last = last.then(step);
    return last;
  };
  const timer = setInterval(() => {
    // A terminal that is gone is told by the next event.
    enqueue(draw).catch(() => clearInterval(timer));
  }, TICK_MS);
  timer.unref();

  return {
    write(_line, event) {
      progress.note(event);
      return enqueue(draw);
    },
    around: (print, text) =>
      enqueue(async () => {
        await clear();
        await print(text);
        await draw();
      }),
    close() {
      clearInterval(timer);
      return enqueue(async () => {
        await clear();
        isClosed = true;
      });
    },
  };
}
