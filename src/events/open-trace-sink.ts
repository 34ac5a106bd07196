import type { EventSink } from './event.ts';
import type { SpanSenderOptions } from './span-sender.ts';

/** Spans to an OpenTelemetry collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` or its traces-only form is set; null when nobody asked for them. */
export async function openTraceSink(
  env: NodeJS.ProcessEnv,
  options: { onProblem(message: string): void },
): Promise<EventSink | null> {
  const asked = await readTracing(env, options);
  if (asked === null) return null;
  const { createTraceSink } = await import('./trace-sink.ts');
  return createTraceSink(asked);
}

/** The trace of a batch: its own span, and the environment in which its runs hang theirs below it. null when nobody asked for one. */
export async function openBatchTrace(env: NodeJS.ProcessEnv, options: { onProblem(message: string): void }) {
  const asked = await readTracing(env, options);
  if (asked === null) return null;
  const { createBatchTrace } = await import('./batch-trace.ts');
  return createBatchTrace(env, asked);
}

async function readTracing(
  env: NodeJS.ProcessEnv,
  options: { onProblem(message: string): void },
): Promise<SpanSenderOptions | null> {
  if (!env['OTEL_EXPORTER_OTLP_ENDPOINT'] && !env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) return null;
  const { readTraceSettings } = await import('./trace-settings.ts');
  const settings = readTraceSettings(env);
  if (settings === null) return null;
  if ('problem' in settings) {
    options.onProblem(settings.problem);
    return null;
  }
  const { readTraceContext } = await import('./trace-context.ts');
  const context = readTraceContext(env);
  return context.isSampled ? { settings, context, ...options } : null;
}
