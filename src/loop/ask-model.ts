import type { Usage } from '../events/index.ts';
import type { Answer, ModelRequest } from '../model/index.ts';
import type { Budget } from './budget.ts';
import type { LoopEnd, LoopPorts } from './ports.ts';

export interface AskSite {
  ports: Pick<LoopPorts, 'model' | 'transcript' | 'emit' | 'now' | 'requestDigest'>;
  budget: Budget;
  signal: AbortSignal;
  /** How the loop ends when the signal has aborted. */
  stopped(): LoopEnd;
}

/** A turn that has its answer and is still open, or one that has failed and is closed. */
export type Asked =
  | { kind: 'answer'; answer: Answer; turn: number; costUsd: number | null; durationMs(): number }
  | { kind: 'failed'; code: string; message: string; retryable: boolean }
  | { kind: 'stopped'; end: LoopEnd };

/** One request as one turn: counted before it is sent, told, and its usage counted however it ends. */
export async function askModel(request: ModelRequest, attempt: number, site: AskSite): Promise<Asked> {
  const { ports, budget, signal } = site;
  const startedAt = ports.now();
  const durationMs = () => Math.round(ports.now() - startedAt);
  budget.countTurn();
  const turn = budget.turns;
  ports.transcript.enterTurn(turn);
  await ports.emit({
    type: 'turn.started',
    turn,
    attempt,
    request_sha256: ports.requestDigest(request),
    ...(request.purpose === undefined ? {} : { purpose: request.purpose }),
  });
  const outcome = await ports.model.answer(request, {
    signal,
    onRetry: (notice) =>
      ports.emit({
        type: 'model.retried',
        attempt: notice.attempt,
        delay_ms: Math.round(notice.delayMs),
        reason: notice.reason,
        ...(notice.httpStatus === undefined ? {} : { http_status: notice.httpStatus }),
      }),
  });
  if (outcome.kind === 'answer') {
    const { answer } = outcome;
    const costUsd = ports.model.costOf(answer.usage);
    budget.countUsage(answer.usage, costUsd);
    budget.learnAnswer(answer.usage);
    return { kind: 'answer', answer, turn, costUsd, durationMs };
  }
  // What a request cost that came to nothing is paid for all the same, where the provider said it.
  budget.countUsage(outcome.usage, isFree(outcome.usage) ? 0 : ports.model.costOf(outcome.usage));
  const failure =
    outcome.kind === 'failed'
      ? outcome.failure
      : { code: 'interrupted', message: 'stopped before the answer was complete', retryable: true };
  const error = { code: failure.code, message: failure.message, retryable: failure.retryable };
  await ports.emit({
    type: 'turn.failed',
    turn,
    attempt,
    usage: outcome.usage,
    total_usage: budget.usage,
    duration_ms: durationMs(),
    error,
  });
  return outcome.kind === 'failed' ? { kind: 'failed', ...error } : { kind: 'stopped', end: site.stopped() };
}

function isFree(usage: Usage): boolean {
  return usage.input_tokens + usage.output_tokens === 0;
}
