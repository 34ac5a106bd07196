import { SinkError } from '../errors.ts';
import {
  createRedactor,
  INTERRUPTION_EXITS,
  type Interruption,
  NO_USAGE,
  type Result,
  renderJson,
} from '../events/index.ts';
import { buildFacts } from './build-facts.ts';
import { type Conclusion, concludeError, concludeInterruption, concludeOutputLoss } from './conclusion.ts';
import { type Prepared, prepare } from './prepare.ts';
import type { RunRequest, RunSinks } from './request.ts';
import { foldResult, NO_CHANGES, type ResultFacts } from './result.ts';
import { createSession, type Session } from './session.ts';
import { type Settled, settle } from './settle.ts';
import { idle, type Worked } from './worked.ts';
import { type OutputGround, writeOutput } from './write-output.ts';

export interface Execution {
  request: RunRequest;
  session: Session;
  /** What is done between preparation and settlement. */
  work(prepared: Prepared): Promise<Worked>;
  /** Reads the code of `work`, while processes that preparation waits for are at work. */
  prefetch?(): Promise<unknown>;
}

/** Prepares, works, settles and says so: one terminal event on every path. */
export async function execute({ request, session, work, prefetch }: Execution): Promise<Result> {
  let prepared: Prepared | null = null;
  let worked: Worked | null = null;
  let conclusion: Conclusion;
  let settled: Settled | null = null;
  try {
    prepared = await prepare(request, session, prefetch);
    if (prepared.failure !== null) throw prepared.failure;
    worked = await work(prepared);
    conclusion = worked.conclusion;
  } catch (error) {
    conclusion = concludeError(error);
  }
  const loss = session.loss();
  if (loss !== null) conclusion = { ...concludeError(loss), checks: conclusion.checks };
  const stop = session.interruption() ?? session.outputLoss();
  if (loss === null && stop !== null && conclusion.outcome !== 'verified' && conclusion.outcome !== 'unchecked') {
    const stopped = stop instanceof SinkError ? concludeOutputLoss(stop) : concludeInterruption(stop);
    conclusion = { ...conclusion, ...stopped, checks: conclusion.checks };
  }
  if (prepared?.context && prepared.trees) {
    try {
      if (conclusion.outcome === 'internal_error') await prepared.context.thread.dropBallast();
      settled = await settle(prepared.context, prepared.trees, conclusion);
    } catch (error) {
      conclusion = concludeError(error);
    }
  }
  const facts: ResultFacts = {
    conclusion,
    goal: request.goal,
    policy: request.policy,
    sandbox: prepared?.sandbox ?? null,
    model: prepared?.model ?? null,
    threadId: prepared?.threadId ?? '',
    runId: session.runId,
    changes: settled?.changes ?? { ...NO_CHANGES, base_commit: prepared?.baseCommit ?? null },
    review: settled?.review ?? [],
    ...usedBy(worked, prepared),
    startedAt: session.startedAt,
    durationMs: session.elapsedMs(),
    earlierMs: prepared?.past?.elapsedMs ?? 0,
  };
  if (request.files.message !== null) {
    // There are no last words without a context.
    const message = prepared?.context?.redactor.redact(conclusion.message) ?? '';
    await writeOutput(request.files.message, `${message}\n`, { ...session, ground: prepared?.context ?? null });
  }
  try {
    return await complete(session, facts, { path: request.files.result, ground: prepared?.context ?? null });
  } finally {
    await closeAll(prepared, conclusion);
  }
}

/** A thread that is lost fails once more when it is closed; the result has told of it. */
async function closeAll(prepared: Prepared | null, { error }: Conclusion): Promise<void> {
  try {
    await prepared?.close();
  } catch (failure) {
    if (error === undefined) throw failure;
  }
}

/** What the thread has used: without work of this run, what those before it used. */
function usedBy(worked: Worked | null, prepared: Prepared | null) {
  const past = prepared?.past ?? null;
  const { turns, toolCalls, attempts, usage, costUsd, denials } =
    worked ?? (past === null ? { ...idle(null), costUsd: null } : idle(past));
  const ofNetwork = prepared?.context?.networkLog.denials ?? [];
  return { denials: [...denials, ...ofNetwork], usage, costUsd, used: { turns, attempts, toolCalls } };
}

/** Emits the terminal event, writes the result beside it, and closes the stream. */
async function complete(
  session: Session,
  facts: ResultFacts,
  file: { path: string | null; ground: OutputGround | null },
): Promise<Result> {
  await session.emit({ type: 'run.completed', result: foldResult(facts) });
  const emitted = session.emitted();
  if (emitted === null) throw new Error('bug: run.completed was emitted, but its result was not seen');
  const isWritten =
    file.path === null || (await writeOutput(file.path, renderJson(emitted), { ...session, ground: file.ground }));
  await session.close();
  // The reader may go away, or the disk fill up, at the very last line: who asked for it does not have it.
  if (session.interruption() === 'SIGPIPE' && emitted.outcome !== 'interrupted') {
    const { outcome, reason } = concludeInterruption('SIGPIPE');
    return { ...emitted, outcome, reason, exit_code: INTERRUPTION_EXITS.SIGPIPE };
  }
  const late = session.outputLoss();
  if (late !== null && emitted.outcome !== 'internal_error') {
    const { outcome, reason } = concludeOutputLoss(late);
    return { ...emitted, outcome, reason, exit_code: 1 };
  }
  return isWritten ? emitted : { ...emitted, exit_code: emitted.exit_code === 0 ? 1 : emitted.exit_code };
}

/** What is left of a run's handle where it cannot begin. */
export interface RefusedRun {
  readonly result: Promise<Result>;
  problems(): readonly string[];
  interrupt(why: Interruption): void;
}

/** A run that cannot begin, because of how it was asked for or because a signal came first: its stream is one start and one end. */
export function refuseRun(
  error: unknown,
  options: { version: string; sinks: RunSinks; resultFile: string | null; interruption: Interruption | null },
): RefusedRun {
  const { session, interrupt } = createSession(options.sinks);
  if (options.interruption !== null) interrupt(options.interruption);
  return { result: tellRefusal(error, session, options), problems: session.problems, interrupt };
}

async function tellRefusal(
  error: unknown,
  session: Session,
  { version, resultFile }: { version: string; resultFile: string | null },
): Promise<Result> {
  session.open(createRedactor([]), []);
  await session.emit({
    type: 'run.started',
    belay_version: version,
    ...buildFacts(),
    goal: null,
    policy: null,
    model: null,
    sandbox: null,
    workspace: null,
    limits: null,
    thread_id: '',
  });
  const why = session.interruption();
  const facts: ResultFacts = {
    conclusion: why === null ? concludeError(error) : concludeInterruption(why),
    goal: null,
    policy: null,
    sandbox: null,
    model: null,
    threadId: '',
    runId: session.runId,
    changes: NO_CHANGES,
    review: [],
    denials: [],
    usage: NO_USAGE,
    costUsd: null,
    used: { turns: 0, attempts: 0, toolCalls: 0 },
    startedAt: session.startedAt,
    durationMs: session.elapsedMs(),
    earlierMs: 0,
  };
  return complete(session, facts, { path: resultFile, ground: null });
}
