import * as z from 'zod';
import { jsonOf } from '../events/index.ts';
import type { ModelFailure } from './model.ts';
import { parseRetryAfter } from './retry-after.ts';
import { TransportError } from './transport-error.ts';

export interface FailureContext {
  provider: string;
  /**
   * The request was about as long as the model's window, or may have been: what a plain 400 or 422 then means. Anthropic, Google, vLLM and
   * others say only in words that a request is too long, and words are never compared.
   */
  isNearWindow: boolean;
  nowMs: number;
}

const ApiError = z.object({
  statusCode: z.int().min(300),
  message: z.string(),
  responseHeaders: z.record(z.string(), z.string()).optional(),
  responseBody: z.string().optional(),
  data: z.unknown().optional(),
});

/** What OpenAI, Anthropic, Google and their likes put into an error body or an error event, at any of its levels. */
const Detail = z.object({
  message: z.string().optional(),
  type: z.string().nullish(),
  code: z.union([z.string(), z.number()]).nullish(),
  status: z.union([z.string(), z.number()]).nullish(),
});
type Detail = z.infer<typeof Detail>;

/** Structured codes: OpenAI and its likes; llama.cpp; Anthropic. */
const TOO_LONG = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
  'model_context_window_exceeded',
]);
/** Waiting does not help: somebody has to pay. */
const OUT_OF_MONEY = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_error']);
/** Error events inside a stream carry no HTTP status: the status of the same error outside. */
const STATUS_OF: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  invalid_request_error: 400,
  invalid_prompt: 400,
  request_too_large: 413,
};
/** Names, not texts, of the SDK's errors about an answer that it cannot read. */
const MALFORMED = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
]);

/** Every way in which a request can go wrong, as data. Abort and stall are known before and never come here. */
export function parseFailure(error: unknown, context: FailureContext): ModelFailure {
  const causes = causesOf(error);
  const transport = causes.find((cause) => cause instanceof TransportError);
  if (transport !== undefined) {
    return {
      code: transport.code === 'TOO_LARGE' ? 'malformed' : 'network',
      message: `${context.provider}: ${transport.message}`,
      retryable: transport.retryable,
    };
  }
  for (const cause of causes) {
    const api = ApiError.safeParse(cause);
    if (api.success) return statusFailure(api.data, context);
  }
  const malformed = causes.find((cause): cause is Error => cause instanceof Error && MALFORMED.has(cause.name));
  if (malformed !== undefined) {
    // The SDK's way to say that the stream ended early: there is no data to complain about.
    const isCut = 'data' in malformed && malformed.data === undefined;
    if (isCut)
      return { code: 'network', message: `${context.provider}: the answer broke off before its end`, retryable: true };
    return { code: 'malformed', message: `${context.provider} sent an answer that cannot be read`, retryable: true };
  }
  if (error instanceof Error)
    return { code: 'invalid_request', message: brief(`${context.provider}: ${error.message}`), retryable: false };
  return eventFailure(error, context);
}

function statusFailure(error: z.infer<typeof ApiError>, context: FailureContext): ModelFailure {
  const details = [...detailsOf(error.data), ...detailsOf(parseBody(error.responseBody))];
  const headers = error.responseHeaders ?? {};
  const retryAfterMs = parseRetryAfter(headers, context.nowMs);
  const said = details.find((detail) => detail.message !== undefined)?.message ?? error.message;
  const failure = decideFailure(error.statusCode, details, context);
  return {
    ...failure,
    message: brief(`${context.provider} answered ${error.statusCode}: ${said || 'no reason given'}`),
    retryable: failure.retryable && headers['x-should-retry'] !== 'false',
    httpStatus: error.statusCode,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function eventFailure(error: unknown, context: FailureContext): ModelFailure {
  const details = detailsOf(error);
  const status = details
    .map(({ code, type, status: named }) =>
      [code, type, named].map((key) => STATUS_OF[String(key)]).find((known) => known !== undefined),
    )
    .find((known) => known !== undefined);
  const numeric = details.map(({ code }) => Number(code)).find((code) => code >= 400 && code < 600);
  const said = details.find((detail) => detail.message !== undefined)?.message ?? 'no reason given';
  return {
    ...decideFailure(status ?? numeric ?? 500, details, context),
    message: brief(`${context.provider} broke the answer off with an error: ${said}`),
  };
}

function decideFailure(
  status: number,
  details: Detail[],
  { isNearWindow }: FailureContext,
): Pick<ModelFailure, 'code' | 'retryable'> {
  const names = details.flatMap(({ code, type, status: named }) => [code, type, named].map(String));
  if (status === 413 || names.some((name) => TOO_LONG.has(name))) return { code: 'context_too_long', retryable: false };
  if (status === 401 || status === 403) return { code: 'auth', retryable: false };
  if (status === 404) return { code: 'not_found', retryable: false };
  if (status === 429) return { code: 'rate_limited', retryable: !names.some((name) => OUT_OF_MONEY.has(name)) };
  if (status === 408 || status === 409 || status === 425) return { code: 'server', retryable: true };
  if (status >= 500) return { code: 'server', retryable: status !== 501 && status !== 505 };
  if ((status === 400 || status === 422) && isNearWindow) return { code: 'context_too_long', retryable: false };
  return { code: 'invalid_request', retryable: false };
}

/** The error objects of a body from the outside in: `{error: {…}}`, `{response: {error: {…}}}`, `[{error: {…}}]` (Gemini). */
function detailsOf(value: unknown, depth = 0): Detail[] {
  if (depth > 4 || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.slice(0, 4).flatMap((entry) => detailsOf(entry, depth + 1));
  const own = Detail.safeParse(value);
  const inner = ['error', 'response', 'data'].flatMap((key) =>
    key in value ? detailsOf(Reflect.get(value, key), depth + 1) : [],
  );
  return [...inner, ...(own.success ? [own.data] : [])];
}

function parseBody(body: string | undefined): unknown {
  if (body === undefined || body.length > 1024 * 1024) return undefined;
  return jsonOf(body);
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (
    let cause = error;
    cause !== undefined && cause !== null && causes.length < 8;
    cause = cause instanceof Error ? cause.cause : undefined
  )
    causes.push(cause);
  return causes;
}

function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 500 ? `${line.slice(0, 499)}…` : line;
}
