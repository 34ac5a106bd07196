import type { Denial } from '../events/index.ts';
import type { Answer, ToolCallPart, ToolResultPart } from '../model/index.ts';
import type { Finish } from '../tools/index.ts';
import type { Budget } from './budget.ts';
import { callTool, declineCall, type PreparedCall, prepareCall, recordFinish } from './call-tool.ts';
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

/** Runs the calls of an answer in the model's order. Never more calls than the limit, none after `finish` or an abort. */
export async function takeCalls(
  parts: readonly ToolCallPart[],
  turn: number,
  context: { ports: LoopPorts; state: TurnState; signal: AbortSignal },
): Promise<CallsOutcome> {
  const { ports, state, signal } = context;
  const outcome: CallsOutcome = { results: [], end: null, mayHaveChanged: false };
  const prepared = parts.map((part) => prepareCall(part, ports));
  for (const group of batches(prepared)) {
    const first = group[0];
    if (first === undefined) continue;
    if (outcome.end !== null || signal.aborted) {
      const why = signal.aborted
        ? ({ text: 'the run was stopped', status: 'cancelled' } as const)
        : ({ text: 'the work had ended', status: 'declined' } as const);
      for (const { part } of group) {
        await declineCall(part, why, { turn, ports });
        outcome.results.push(notRun(part, why.text));
      }
      continue;
    }
    if (first.kind === 'finish') {
      await takeFinish(first, turn, { ports, state, outcome });
      continue;
    }
    if (first.kind === 'denied' && first.decision.decision === 'ask' && ports.policy.approvals === 'suspend') {
      const approvalId = `approval_${turn}_${parts.indexOf(first.part)}`;
      await ports.emit({
        type: 'approval.requested',
        approval_id: approvalId,
        action: first.action,
        rule: first.decision.rule,
      });
      outcome.end = { kind: 'approval', approvalId, action: first.action, rule: first.decision.rule };
      outcome.results.push(notRun(first.part, 'it waits for an approval'));
      continue;
    }
    await callGroup(group, turn, { ...context, outcome });
  }
  return outcome;
}

async function takeFinish(
  call: { part: ToolCallPart; finish: Finish },
  turn: number,
  context: { ports: LoopPorts; state: TurnState; outcome: CallsOutcome },
): Promise<void> {
  const { ports, state, outcome } = context;
  const error = call.finish.status === 'done' ? ports.refuseOutput(call.finish) : null;
  await recordFinish({ ...call, error }, turn, ports);
  if (error === null) {
    outcome.end = { kind: 'finished', finish: call.finish, callId: call.part.id, empty: false };
    return;
  }
  state.refusedOutputs++;
  outcome.results.push({ callId: call.part.id, name: call.part.name, text: error, isError: true });
  if (state.refusedOutputs >= OUTPUT_TRIES) outcome.end = { kind: 'invalid_output', message: error };
}

async function callGroup(
  group: readonly PreparedCall[],
  turn: number,
  context: { ports: LoopPorts; state: TurnState; signal: AbortSignal; outcome: CallsOutcome },
): Promise<void> {
  const { ports, state, signal, outcome } = context;
  const allowed: Exclude<PreparedCall, { kind: 'finish' }>[] = [];
  const refused: ToolResultPart[] = [];
  for (const call of group) {
    if (call.kind === 'finish') continue;
    const hit = state.budget.forbidsToolCall();
    if (hit === null) {
      state.budget.countToolCall();
      allowed.push(call);
      continue;
    }
    outcome.end = { kind: 'limit', ...hit };
    const reason = `the limit of ${hit.max} tool calls is reached`;
    await callTool({ kind: 'rejected', part: call.part, reason }, turn, ports, signal);
    refused.push(notRun(call.part, reason));
  }
  const called = await Promise.all(allowed.map((call) => callTool(call, turn, ports, signal)));
  called.forEach((done, i) => {
    const part = allowed[i]?.part;
    if (part === undefined) return;
    const row = state.repeats.count({ name: part.name, input: part.input, result: done.result.text });
    if (row >= ports.limits.repeats)
      outcome.end ??= { kind: 'limit', limit: 'repeats', used: row, max: ports.limits.repeats };
    const hint =
      row === ports.limits.repeats - 1
        ? `\n[the same call gave the same result ${row} times in a row: do something else]`
        : '';
    outcome.results.push(hint === '' ? done.result : { ...done.result, text: done.result.text + hint });
    if (done.denial) state.denials.push(done.denial);
    outcome.mayHaveChanged ||= done.mayHaveChanged;
  });
  outcome.results.push(...refused);
}
