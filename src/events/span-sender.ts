import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { codeOf } from '../errors.ts';
import { toOtlpJson } from './otlp-json.ts';
import type { TraceContext } from './trace-context.ts';
import type { TraceSettings } from './trace-settings.ts';
import type { Span } from './trace-span.ts';

/** The longest that the end of a run waits for a collector, whatever the timeout of one request is. */
const CLOSE_BOUND_MS = 2_000;
const BATCH_SPANS = 64;
/** Spans that wait while a collector is away; beyond, the oldest are dropped. */
const MAX_WAITING = 2_048;
/** What the protocol says to try again. */
const RETRYABLE = new Set([429, 502, 503, 504]);

export interface SpanSenderOptions {
  settings: TraceSettings;
  context: TraceContext;
  /** Told once: telemetry that is lost costs the run nothing else. */
  onProblem(message: string): void;
}

/**
 * Sends spans to an OTLP/HTTP collector as JSON. Never rejects, and holds the end for two seconds at most: a run must end as it would
 * without a collector.
 */
export function createSpanSender({ settings, context, onProblem }: SpanSenderOptions) {
  const given = new AbortController();
  let waiting: Span[] = [];
  let sending: Promise<void> = Promise.resolve();
  let isSending = false;
  let isTold = false;

  function tell(problem: string): void {
    if (!isTold) onProblem(`no traces to ${settings.url.host}: ${problem}`);
    isTold = true;
  }

  async function send(): Promise<void> {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const outcome = await post(settings, toOtlpJson(batch, { context, resource: settings.resource }), given.signal);
    if (outcome.kind === 'sent') return;
    tell(outcome.problem);
    if (outcome.kind === 'retryable') waiting = [...batch, ...waiting].slice(-MAX_WAITING);
  }

  function sendSoon(): void {
    if (isSending) return;
    isSending = true;
    sending = send().finally(() => {
      isSending = false;
    });
  }

  return {
    add(spans: readonly Span[]): void {
      waiting.push(...spans);
      if (waiting.length > MAX_WAITING) waiting = waiting.slice(-MAX_WAITING);
      if (waiting.length >= BATCH_SPANS) sendSoon();
    },
    async close(): Promise<void> {
      const timer = setTimeout(() => given.abort(), CLOSE_BOUND_MS);
      try {
        await sending;
        await send();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

type Outcome = { kind: 'sent' } | { kind: 'retryable' | 'lost'; problem: string };

/** One request on a connection of its own: a pooled one could keep the process alive. Redirects are not followed. */
function post({ url, headers, timeoutMs }: TraceSettings, body: string, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const fail = (error: unknown) =>
      resolve({
        kind: 'retryable',
        problem: codeOf(error) ?? 'no answer in time',
      });
    try {
      const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
        method: 'POST',
        agent: false,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      });
      request.on('error', fail);
      request.on('response', (response) => {
        const status = response.statusCode ?? 0;
        response.on('error', fail).on('end', () => {
          if (status >= 200 && status < 300) resolve({ kind: 'sent' });
          else resolve({ kind: RETRYABLE.has(status) ? 'retryable' : 'lost', problem: `HTTP ${status}` });
        });
        response.resume();
      });
      request.end(body);
    } catch (error) {
      // A header that HTTP does not allow throws here.
      resolve({
        kind: 'lost',
        problem: codeOf(error) ?? 'the request cannot be made',
      });
    }
  });
}
