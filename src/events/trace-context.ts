import { randomBytes } from 'node:crypto';

/** Where a run's spans hang: in a trace of their own, or below the step of a pipeline that started it. */
export interface TraceContext {
  traceId: string;
  parentSpanId: string | null;
  traceState: string | null;
  /** What the caller decided: spans of a trace that is not sampled are not sent. */
  isSampled: boolean;
}

const ZERO = /^0+$/;

/** `TRACEPARENT` and `TRACESTATE` of the environment (W3C Trace Context, level 1); anything malformed starts a trace of its own. */
export function readTraceContext(env: NodeJS.ProcessEnv): TraceContext {
  const [, version, traceId, parentSpanId, flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(env['TRACEPARENT']?.trim() ?? '') ?? [];
  if (
    traceId === undefined ||
    parentSpanId === undefined ||
    version === 'ff' ||
    ZERO.test(traceId) ||
    ZERO.test(parentSpanId)
  )
    return { traceId: randomBytes(16).toString('hex'), parentSpanId: null, traceState: null, isSampled: true };
  return {
    traceId,
    parentSpanId,
    traceState: env['TRACESTATE']?.trim() || null,
    isSampled: (Number.parseInt(flags ?? '01', 16) & 1) === 1,
  };
}
