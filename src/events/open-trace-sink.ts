import type { EventSink } from './event.ts';

/** Spans to an OpenTelemetry collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` or its traces-only form is set; null when nobody asked for them. */
export async function openTraceSink(
  env: NodeJS.ProcessEnv,
  options: { onProblem(message: string): void },
): Promise<EventSink | null> {
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
  if (!context.isSampled) return null;
  const { createTraceSink } = await import('./trace-sink.ts');
  return createTraceSink({ settings, context, ...options });
}
