import type { Denial } from '../events/index.ts';
import type { Answer, ToolCallPart, ToolResultPart } from '../model/index.ts';
import type { PendingAnswer } from '../thread/index.ts';
import type { Finish } from '../tools/index.ts';
import type { Budget } from './budget.ts';
import {
  type CalledTool,
  type CallSite,
  callTool,
  declineCall,
  type PreparedCall,
  prepareCall,
  recordFinish,
} from './call-tool.ts';
import { cancelCall } from './cancel-call.ts';
import { hintOf } from './loop-start.ts';
import type { LoopEnd, LoopPorts } from './ports.ts';
import type { RepeatCounter } from './repeats.ts';

export interface TurnState {
  budget: Budget;
  repeats: RepeatCounter;
  denials: Denial[];
  /** Outputs of `finish` that were refused in a row. */
  refusedOutputs: number;
}

/** What the calls of one answer came to. `results` answers every call but the `finish` that ends the loop. */
export interface CallsOutcome {
  results: ToolResultPart[];
  end: LoopEnd | null;
  mayHaveChanged: boolean;
  /** A call was in flight when an earlier run was killed: those behind it may need it. */
  isCutOff: boolean;
}

const OUTPUT_TRIES = 3;

/** Emits what the model said, before anything it asks for happens. */
export async function emitAnswer(answer: Answer, turn: number, ports: LoopPorts): Promise<void> {
  for (const part of answer.parts) {
    if (part.type === 'tool_call' || part.text === '') continue;
    const type = part.type === 'text' ? 'agent_message' : 'reasoning';
    const item = { id: ports.nextItemId(), type, status: 'completed', text: part.text, duration_ms: 0 } as const;
    await ports.emit({ type: 'item.completed', turn, phase: 'agent', item });
  }
}

function notRun(part: ToolCallPart, why: string): ToolResultPart {
  return { callId: part.id, name: part.name, text: `not run: ${why}`, isError: true };
}

/** Groups calls so that neighbours that only read run side by side; everything else runs alone, in order. */
function batches(calls: readonly PreparedCall[]): PreparedCall[][] {
  const groups: PreparedCall[][] = [];
  const readsOnly = (call: PreparedCall | undefined) => call?.kind === 'ready' && call.tool.readOnly;
  for (const call of calls) {
    const last = groups.at(-1);
    if (last && readsOnly(call) && readsOnly(last[0])) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

interface TurnSite extends CallSite {
  state: TurnState;
  /** What an earlier run did of this answer; null for one that was just given. */
  pending: PendingAnswer | null;
}

/**
 * Runs the calls of an answer in the model's order. Never more calls than the limit, none after `finish` or an abort, and none whose end
 * an earlier run has on record.
 */
export async function takeCalls(parts: readonly ToolCallPart[], site: TurnSite): Promise<CallsOutcome> {
  const { ports, signal, pending } = site;
  const outcome: CallsOutcome = { results: [], end: null, mayHaveChanged: false, isCutOff: false };
  const prepared = parts.map((part) => prepareDecided(part, site));
  for (const group of batches(prepared)) {
    const first = group[0];
    if (first === undefined) continue;
    if (outcome.end !== null || signal.aborted || outcome.isCutOff) {
      const why = whyNotRun(outcome, signal);
      for (const { part } of group) {
        // Calls behind one that waits for a person are not given up.
        if (outcome.end?.kind !== 'approval') await declineCall(part, why, site);
        outcome.results.push(notRun(part, why.text));
      }
      continue;
    }
    const isOver = pending?.ended.has(first.part.id) === true;
    if (first.kind === 'finish' && !isOver) {
      await takeFinish(first, site, outcome);
      continue;
    }
    if (!isOver && isAsked(first, ports)) {
      const { part, action, decision } = first;
      const asked = { action, rule: decision.rule };
      outcome.end = {
        kind: 'approval',
        approvalId: await ports.askApproval({ part, turn: site.turn, ...asked }),
        ...asked,
      };
      continue;
    }
    await callGroup(group, site, outcome);
  }
  return outcome;
}

function whyNotRun({ end }: CallsOutcome, signal: AbortSignal): { text: string; status: 'cancelled' | 'declined' } {
  if (signal.aborted) return { text: 'the run was stopped', status: 'cancelled' };
  if (end !== null) return { text: 'the work had ended', status: 'declined' };
  return { text: 'a call before it was cut off; make it again if it is still needed', status: 'cancelled' };
}

/** Whether a call waits for a person, who has not decided on it. */
function isAsked(call: PreparedCall, { policy }: LoopPorts): call is Extract<PreparedCall, { kind: 'denied' }> {
  return (
    call.kind === 'denied' &&
    call.isByPerson !== true &&
    call.decision.decision === 'ask' &&
    policy.approvals === 'suspend'
  );
}

/** A call with what a person decided on it. */
function prepareDecided(part: ToolCallPart, { ports, pending }: TurnSite): PreparedCall {
  const decided = pending?.decisions.get(part.id);
  const call = prepareCall(part, ports, decided?.decision === 'approved');
  if (decided?.decision !== 'denied') return call;
  const asked = pending?.approvals.find((one) => one.approvalId === decided.approvalId);
  const { action, rule } = asked ?? { action: part.name, rule: 'approval' };
  const decision = { decision: 'deny', rule, reason: `asked for as ${decided.approvalId}` } as const;
  return { kind: 'denied', part, action, decision, isByPerson: true };
}

async function takeFinish(
  call: { part: ToolCallPart; finish: Finish },
  site: TurnSite,
  outcome: CallsOutcome,
): Promise<void> {
  const { ports, state } = site;
  const error = call.finish.status === 'done' ? ports.refuseOutput(call.finish) : null;
  await recordFinish({ ...call, error }, site);
  if (error === null) {
    outcome.end = { kind: 'finished', finish: call.finish, callId: call.part.id, empty: false };
    return;
  }
  state.refusedOutputs++;
  outcome.results.push({ callId: call.part.id, name: call.part.name, text: error, isError: true });
  if (state.refusedOutputs >= OUTPUT_TRIES) outcome.end = { kind: 'invalid_output', message: error };
}

async function callGroup(group: readonly PreparedCall[], site: TurnSite, outcome: CallsOutcome): Promise<void> {
  const { ports, state, pending } = site;
  const allowed: PreparedCall[] = [];
  const refused: ToolResultPart[] = [];
  for (const call of group) {
    if (pending?.ended.has(call.part.id)) {
      allowed.push(call);
      continue;
    }
    const hit = state.budget.forbidsToolCall();
    if (hit === null) {
      state.budget.countToolCall();
      allowed.push(call);
      continue;
    }
    outcome.end = { kind: 'limit', ...hit };
    const reason = `the limit of ${hit.max} tool calls is reached`;
    await callTool({ kind: 'rejected', part: call.part, reason, isOverLimit: true }, site);
    refused.push(notRun(call.part, reason));
  }
  const called = await Promise.all(allowed.map((call) => takeCall(call, site)));
  called.forEach((done, i) => {
    const part = allowed[i]?.part;
    if (part === undefined) return;
    const row =
      part.name === 'finish'
        ? 0
        : state.repeats.count({ name: part.name, input: part.input, result: done.result.text });
    if (row >= ports.limits.repeats)
      outcome.end ??= { kind: 'limit', limit: 'repeats', used: row, max: ports.limits.repeats };
    const hint = row > 0 && row === ports.limits.repeats - 1 ? hintOf(row) : '';
    outcome.results.push(hint === '' ? done.result : { ...done.result, text: done.result.text + hint });
    if (done.denial) state.denials.push(done.denial);
    outcome.mayHaveChanged ||= done.mayHaveChanged;
    outcome.isCutOff ||= done.isCutOff === true;
  });
  outcome.results.push(...refused);
}

/** Runs a call, unless an earlier run did: what has ended is taken as it was, what was in flight is cancelled, never repeated. */
async function takeCall(call: PreparedCall, site: TurnSite): Promise<CalledTool> {
  const { pending } = site;
  const ended = pending?.ended.get(call.part.id);
  // Its denial is among those of the past.
  if (ended !== undefined) {
    const { end, mayHaveChanged, isCutOff } = ended;
    return { result: end, denial: null, mayHaveChanged, ...(isCutOff === undefined ? {} : { isCutOff }) };
  }
  if (call.kind === 'finish') throw new Error('bug: a finish among the calls to run');
  if (call.kind === 'ready' && !call.tool.readOnly && pending?.begun.has(call.part.id))
    return cancelCall(call, site, pending.cutOff.at(-1) ?? null);
  return callTool(call, site);
}
