import type { TraceContext } from './trace-context.ts';
import type { Attributes, AttributeValue, Span } from './trace-span.ts';

const KINDS = { internal: 1, client: 3 } as const;
/** `STATUS_CODE_ERROR`; without a status, a span says nothing about it. */
const ERROR = 2;

/** The body of an export request in OTLP/JSON (opentelemetry-proto 1.x: ids in hex, 64-bit numbers as text). */
export function toOtlpJson(
  spans: readonly Span[],
  { context, resource }: { context: TraceContext; resource: Attributes },
): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope: { name: 'belay' }, spans: spans.map((span) => toSpan(span, context)) }],
      },
    ],
  });
}

function toSpan(span: Span, context: TraceContext) {
  return {
    traceId: context.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    ...(context.traceState === null ? {} : { traceState: context.traceState }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: `${span.startMs}000000`,
    endTimeUnixNano: `${span.endMs}000000`,
    attributes: toAttributes(span.attributes),
    ...(span.error === null ? {} : { status: { code: ERROR, message: span.error } }),
  };
}

function toAttributes(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: AttributeValue) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
