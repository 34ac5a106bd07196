import type { Clock } from './clock.ts';
import type { EventSink } from './event.ts';
import { createProgress } from './progress.ts';

/** Where no terminal is: a plain line after every turn and every round of checks. See `createWarningLines` for what goes wrong. */
export function createProgressLines(options: { write(text: string): void | Promise<void>; clock: Clock }): EventSink {
  const progress = createProgress(options.clock);
  return {
    async write(_line, event) {
      progress.note(event);
      if (event.type === 'turn.completed') await options.write(`belay: ${progress.render()}\n`);
      if (event.type === 'verification.completed') {
        await options.write(`belay: ${progress.render()} · checks ${event.passed ? 'pass' : 'do not pass'}\n`);
      }
    },
    async close() {},
  };
}
