import { type Denial, type FileChange, NO_USAGE } from '../events/index.ts';
import type { Answer, ToolCallPart, ToolResultPart } from '../model/index.ts';
import type { PendingAnswer } from '../thread/index.ts';
import { type Asked, askModel } from './ask-model.ts';
import { type Budget, createBudget } from './budget.ts';
import { declineCall } from './call-tool.ts';
import { compactContext } from './compact-context.ts';
import { callsOf, startLoop, textOf } from './loop-start.ts';
import type { LoopEnd, LoopPorts } from './ports.ts';
import { type CallsOutcome, emitAnswer, type TurnState, takeCalls } from './take-turn.ts';

const NUDGES = 2;
const LAST_TURN = 'This is your last answer. Call finish now: say what you did and what is left.';
const MORE_TURNS = 'That was not your last answer after all: go on with the work.';
const EMPTY = 'Your answer was empty. Go on with the work, or call finish.';
const CUT = 'Your answer was cut at the output limit, so none of its calls ran. Go on in smaller steps.';

export interface Signals {
  /** The user or the pipeline wants the run to end. */
  interrupt: AbortSignal;
  /** The agent's share of the wall time is over. */
  deadline: AbortSignal;
}

/** The agent's part of a run: turn after turn until something stops it; goes on where it stopped when told why it must. */
export interface Loop {
  readonly budget: Budget;
  readonly denials: readonly Denial[];
  /** The tree as it was after the last turn; null before the first. */
  readonly tree: string | null;
  run(attempt: number): Promise<LoopEnd>;
  /** Answers the `finish` that ended the last run with the reason why the work is not done. */
  goOn(evidence: string): Promise<void>;
}

export function createLoop(ports: LoopPorts, signals: Signals): Loop {
  const { limits, agentDeadlineMs, past } = ports;
  const costOf = (usage: Answer['usage']) => ports.model.costOf(usage);
  const start = startLoop(past, costOf);
  const budget = createBudget({ limits, agentDeadlineMs, before: start.budget, costOf });
  for (const usage of start.answers) budget.learnAnswer(usage);
  const { repeats, denials, refusedOutputs } = start;
  const state: TurnState = { budget, repeats, denials, refusedOutputs };
  const signal = AbortSignal.any([signals.interrupt, signals.deadline]);
  let tree: string | null = past?.tree ?? null;
  let { nudges, pending } = start;
  /** The request before was too long for the provider. */
  let refusedAsTooLong = false;
  let toldPlace = false;
  /** Results that wait for the answer to the `finish` beside them. */
  let held: { results: ToolResultPart[]; callId: string } | null = null;

  const site = { ports, budget, signal, stopped };

  function stopped(): LoopEnd {
    if (signals.interrupt.aborted) return { kind: 'interrupted' };
    return { kind: 'limit', limit: 'wall_time', used: Math.round(ports.elapsedMs()), max: ports.limits.wallTimeMs };
  }

  /** Why no further answer may be asked for, or null. */
  function forbidden(): LoopEnd | null {
    if (signal.aborted) return stopped();
    const hit = budget.forbidsAnswer(ports.transcript.estimateTokens(), ports.elapsedMs());
    return hit === null ? null : { kind: 'limit', ...hit };
  }

  async function run(attempt: number): Promise<LoopEnd> {
    if (pending !== null) {
      const end = await finishTurn(pending);
      if (end !== null) return end;
    }
    if (!toldPlace && ports.movedTo !== null) await sayBeforeNext(ports.movedTo, 'workspace');
    toldPlace = true;
    for (;;) {
      if (signal.aborted) return stopped();
      for (const text of ports.takeSteering()) await ports.transcript.addUser(text, 'steer');
      const plan = budget.turnsLeft > 0 ? ports.transcript.decideCompaction() : null;
      const full = plan === null ? null : await compactContext(plan, { ...site, attempt, tree });
      const stop = full ?? forbidden();
      if (stop !== null) return stop;
      if (budget.isLastTurn()) await sayOnce(LAST_TURN);
      else if (start.wasTold(LAST_TURN, MORE_TURNS)) await sayOnce(MORE_TURNS);
      const end = await takeTurn(attempt);
      await budget.warn(ports.emit, ports.elapsedMs());
      if (end !== null) return end;
    }
  }

  /** An earlier run may have been killed between a word of ours and the request that carries it. */
  async function sayOnce(text: string): Promise<void> {
    const last = ports.transcript.messages.at(-1);
    if (last?.role !== 'user' || last.text !== text) await sayBeforeNext(text, 'nudge');
  }

  /** It is part of the turn that begins: going back to the end of the one before leaves it out. */
  async function sayBeforeNext(text: string, source: 'nudge' | 'workspace'): Promise<void> {
    ports.transcript.enterTurn(budget.turns + 1);
    await ports.transcript.addUser(text, source);
  }

  /** What is left to do of an answer that an earlier run was given. Its turn is told again, with nothing that was counted before. */
  async function finishTurn(before: PendingAnswer): Promise<LoopEnd | null> {
    const startedAt = ports.now();
    const { note, isTold, isClosed } = before;
    const { turn, message } = note;
    const { attempt, finish, usage, costUsd } = note.answer;
    const answer: Answer = { parts: message.role === 'assistant' ? message.parts : [], finish, usage };
    ports.transcript.enterTurn(turn);
    await ports.emit({ type: 'turn.started', turn, attempt });
    if (!isTold) await emitAnswer(answer, turn, ports);
    const { end, mayHaveChanged } = await act(answer, turn, before);
    pending = null;
    const changes = await settleTurn(mayHaveChanged);
    await ports.emit({
      type: 'turn.completed',
      turn,
      attempt,
      usage: isClosed ? NO_USAGE : usage,
      total_usage: budget.usage,
      cost_usd: isClosed ? 0 : costUsd,
      duration_ms: Math.round(ports.now() - startedAt),
      snapshot: tree,
      changes,
      ...(finish === 'stop' || finish === 'tool_calls' ? {} : { finish }),
    });
    return end;
  }

  /** One model answer with its calls. Returns what ends the loop, or null. */
  async function takeTurn(attempt: number): Promise<LoopEnd | null> {
    const sentTokens = ports.transcript.estimateTokens();
    const asked = await askModel(ports.transcript.request(), attempt, site);
    if (asked.kind === 'stopped') return asked.end;
    if (asked.kind === 'failed') return retryShorter(asked, { attempt, sentTokens });
    refusedAsTooLong = false;
    const { answer, turn, costUsd, durationMs } = asked;
    await ports.transcript.addAnswer(answer, { attempt, costUsd });
    await emitAnswer(answer, turn, ports);
    const { end, mayHaveChanged } = await act(answer, turn, null);
    const changes = await settleTurn(mayHaveChanged);
    await ports.emit({
      type: 'turn.completed',
      turn,
      attempt,
      usage: answer.usage,
      total_usage: budget.usage,
      cost_usd: costUsd,
      duration_ms: durationMs(),
      snapshot: tree,
      changes,
      ...(answer.finish === 'stop' || answer.finish === 'tool_calls' ? {} : { finish: answer.finish }),
    });
    return end;
  }

  /** A request that was too long for the provider is sent once more, compacted: what was sent is then the most that it takes. */
  async function retryShorter(
    { code, message, retryable }: Extract<Asked, { kind: 'failed' }>,
    { attempt, sentTokens }: { attempt: number; sentTokens: number },
  ): Promise<LoopEnd | null> {
    const failed: LoopEnd = { kind: 'model_failed', code, message, retryable };
    if (code !== 'context_too_long' || refusedAsTooLong) return failed;
    refusedAsTooLong = true;
    const window = Math.min(sentTokens, ports.transcript.windowTokens ?? sentTokens);
    const plan = ports.transcript.decideCompaction(window);
    return plan === null ? failed : compactContext(plan, { ...site, attempt, tree });
  }

  async function settleTurn(mayHaveChanged: boolean): Promise<FileChange[]> {
    if (tree !== null && !mayHaveChanged) return [];
    const snapshot = await ports.snapshot();
    tree = snapshot.tree;
    return [...snapshot.changes];
  }

  /** What follows from an answer: calls, a nudge, or the end. */
  async function act(
    answer: Answer,
    turn: number,
    before: PendingAnswer | null,
  ): Promise<{ end: LoopEnd | null; mayHaveChanged: boolean }> {
    const calls = callsOf(answer.parts);
    const text = textOf(answer.parts);
    const quiet = (end: LoopEnd | null) => ({ end, mayHaveChanged: false });
    if (answer.finish === 'refusal' || answer.finish === 'content_filter') {
      const why = `the provider stopped the answer (${answer.finish})`;
      await declineCalls(calls, why, turn);
      return quiet({ kind: 'refused', message: text === '' ? why : text });
    }
    if (answer.finish === 'length') {
      await declineCalls([...calls, ...(answer.cutCalls ?? [])], 'the answer was cut at the output limit', turn);
      if (calls.length > 0)
        await ports.transcript.addResults(
          calls.map((part) => ({ callId: part.id, name: part.name, text: CUT, isError: true })),
        );
      else await ports.transcript.addUser(CUT, 'nudge');
      return quiet(null);
    }
    if (calls.length > 0) {
      nudges = 0;
      return takeAnswerCalls(calls, turn, before);
    }
    if (text !== '') return quiet(await finishByText(text));
    if (nudges >= NUDGES) return quiet({ kind: 'finished', finish: doneWith(''), callId: null, empty: true });
    nudges++;
    await ports.transcript.addUser(EMPTY, 'nudge');
    return quiet(null);
  }

  async function declineCalls(calls: readonly ToolCallPart[], text: string, turn: number): Promise<void> {
    for (const part of calls) await declineCall(part, { text, status: 'declined' }, { turn, ports });
  }

  async function takeAnswerCalls(
    calls: readonly ToolCallPart[],
    turn: number,
    before: PendingAnswer | null,
  ): Promise<{ end: LoopEnd | null; mayHaveChanged: boolean }> {
    const taken: CallsOutcome = await takeCalls(calls, { ports, state, signal, turn, pending: before });
    const { end, results, mayHaveChanged } = taken;
    if (end?.kind === 'finished' && end.callId !== null) held = { results, callId: end.callId };
    // Calls that were not run stay open: a resumed run makes them.
    else if (results.length > 0 && end?.kind !== 'approval' && !signal.aborted)
      await ports.transcript.addResults(results);
    return { end: end ?? (signal.aborted ? stopped() : null), mayHaveChanged };
  }

  /** An answer without a call is a `finish`; with an output schema its text has to be the output. */
  async function finishByText(text: string): Promise<LoopEnd | null> {
    const finish = doneWith(text);
    const error = ports.refuseOutput(finish);
    if (error === null) return { kind: 'finished', finish, callId: null, empty: false };
    state.refusedOutputs++;
    if (state.refusedOutputs >= 3) return { kind: 'invalid_output', message: error };
    await ports.transcript.addUser(error, 'nudge');
    return null;
  }

  return {
    budget,
    get denials() {
      return state.denials;
    },
    get tree() {
      return tree;
    },
    run,
    async goOn(evidence) {
      nudges = 0;
      if (held === null) {
        await ports.transcript.addUser(evidence, 'verification');
        return;
      }
      const { results, callId } = held;
      held = null;
      const refuted = { callId, name: 'finish', text: evidence, isError: true };
      await ports.transcript.addResults([...results, refuted], 'verification');
    },
  };
}

function doneWith(summary: string) {
  return { status: 'done', summary, risks: [], question: null, output: undefined } as const;
}
