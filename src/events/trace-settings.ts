import type { Attributes } from './trace-span.ts';

/** How to export, from the variables that OpenTelemetry names; null where nobody asked for it. */
export interface TraceSettings {
  url: URL;
  headers: Record<string, string>;
  resource: Attributes;
  timeoutMs: number;
  withContent: boolean;
}

export type TraceSettingsOutcome = TraceSettings | { problem: string } | null;

const DEFAULT_TIMEOUT_MS = 10_000;

export function readTraceSettings(env: NodeJS.ProcessEnv): TraceSettingsOutcome {
  const own = textIn(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const shared = textIn(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (own === null && shared === null) return null;
  if (isYes(env['OTEL_SDK_DISABLED']) || textIn(env, 'OTEL_TRACES_EXPORTER') === 'none') return null;
  const protocol = textIn(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? textIn(env, 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc')
    return { problem: 'OTLP over gRPC is not in this version: set OTEL_EXPORTER_OTLP_PROTOCOL=http/json' };
  const url = parseUrl(own ?? `${(shared ?? '').replace(/\/+$/, '')}/v1/traces`);
  if (url === null) return { problem: 'the OTLP endpoint is no http or https URL' };
  const timeout = Number(
    textIn(env, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ?? textIn(env, 'OTEL_EXPORTER_OTLP_TIMEOUT') ?? Number.NaN,
  );
  return {
    url,
    headers: parsePairs(textIn(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? textIn(env, 'OTEL_EXPORTER_OTLP_HEADERS')),
    resource: {
      'service.name': 'belay',
      ...parsePairs(textIn(env, 'OTEL_RESOURCE_ATTRIBUTES')),
      ...(textIn(env, 'OTEL_SERVICE_NAME') === null
        ? {}
        : { 'service.name': textIn(env, 'OTEL_SERVICE_NAME') ?? 'belay' }),
    },
    timeoutMs: timeout > 0 ? timeout : DEFAULT_TIMEOUT_MS,
    withContent: isYes(env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']),
  };
}

/** An empty variable counts as unset. */
const textIn = (env: NodeJS.ProcessEnv, name: string) => env[name]?.trim() || null;
const isYes = (value: string | undefined) => value?.trim().toLowerCase() === 'true';

function parseUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null;
}

/** `key=value,key2=value2`, percent-encoded as in W3C Baggage. What cannot be decoded is taken as it is. */
function parsePairs(text: string | null): Record<string, string> {
  const pairs = (text ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[decode(pair.slice(0, at).trim()), decode(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
