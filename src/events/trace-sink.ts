import type { EventSink } from './event.ts';
import { createSpanSender, type SpanSenderOptions } from './span-sender.ts';
import { createTraceFold } from './trace-fold.ts';

/** A run's spans, sent as they end. Never holds a write. */
export function createTraceSink(options: SpanSenderOptions): EventSink {
  const { settings, context } = options;
  const fold = createTraceFold({ context, withContent: settings.withContent });
  const sender = createSpanSender(options);
  return {
    write: async (_line, event) => sender.add(fold.add(event)),
    close: () => sender.close(),
  };
}
